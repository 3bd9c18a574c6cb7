/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_server.c - see the header. One thread, which runs libmicrohttpd and closes what
 * metrics_connections.c names. The limits of libmicrohttpd (the library) do not suffice: its timeout begins
 * anew with each byte, and at its limit it accepts no more connections. A connection carries one request.
 */
#include "http/metrics_server.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/listen_socket.h"
#include "http/metrics_connections.h"

/*
 * The library's limit has room for connections that were shut down and that the library has not closed yet.
 */
enum { LIBRARY_CONNECTIONS = 4 * METRICS_CONNECTIONS, BACKLOG = 64, HOST_BYTES = 256 };

struct metrics_server {
    struct MHD_Daemon *daemon;
    metrics_collect_fn *collect; /* NULL: the listener is for probes */
    probe_ready_fn *ready;       /* NULL: the listener is for metrics */
    void *context;
    struct metrics_connections connections;
    pthread_t thread;
    int stopping; /* an eventfd that becomes readable when the thread has to end */
};

/* ---- answering ---- */

static enum MHD_Result send_response(
    struct MHD_Connection *connection, unsigned code, const char *type, struct buf *body)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result = MHD_NO;

    if (!response)
        return MHD_NO;
    if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES)
        result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

/* Write the body of a page. Returns the HTTP status code: MHD_HTTP_NOT_FOUND if there is no such page. */
static unsigned write_page(struct metrics_server *server, const char *url, struct buf *body)
{
    bool is_fine = true;

    if (server->collect && strcmp(url, "/metrics") == 0) {
        server->collect(server->context, body);
        return MHD_HTTP_OK;
    }
    if (server->ready && strcmp(url, "/ready") == 0)
        is_fine = server->ready(server->context);
    else if (!server->ready || strcmp(url, "/live") != 0)
        return MHD_HTTP_NOT_FOUND;
    buf_format(body, "%s\n", is_fine ? "ok" : "not ready");
    return is_fine ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
}

static enum MHD_Result handle_request(void *context, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *upload, size_t *upload_size, void **state)
{
    struct metrics_server *server = context;
    bool reads = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    enum MHD_Result result;
    struct buf body;
    unsigned code;

    (void)version;
    (void)upload;
    (void)state;
    *upload_size = 0;
    buf_init(&body, NULL);
    code = write_page(server, url, &body);
    if (code != MHD_HTTP_NOT_FOUND && !reads) {
        buf_cleanup(&body);
        buf_init(&body, NULL);
        code = MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    if (code == MHD_HTTP_NOT_FOUND || code == MHD_HTTP_METHOD_NOT_ALLOWED)
        buf_format(&body, "%s\n",
            code == MHD_HTTP_METHOD_NOT_ALLOWED ? "only GET"
            : server->collect                   ? "only /metrics is here"
                                                : "only /live and /ready are here");
    result = send_response(connection, code,
        server->collect && code == MHD_HTTP_OK ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain",
        &body);
    buf_cleanup(&body);
    return result;
}

/* ---- connections ---- */

static struct metrics_address address_of(const struct sockaddr *peer)
{
    struct metrics_address address = { 0 };

    if (peer && peer->sa_family == AF_INET)
        memcpy(address.bytes, &((const struct sockaddr_in *)(const void *)peer)->sin_addr,
            sizeof(struct in_addr));
    if (peer && peer->sa_family == AF_INET6)
        memcpy(address.bytes, &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr,
            sizeof(struct in6_addr));
    return address;
}

/*
 * Shut the socket down. The library sees the end of the connection and closes it; until then the descriptor
 * is not reused.
 */
static void hang_up(int fd)
{
    if (fd != METRICS_NO_CONNECTION)
        (void)shutdown(fd, SHUT_RDWR);
}

static void note_connection(
    void *context, struct MHD_Connection *connection, void **state, enum MHD_ConnectionNotificationCode code)
{
    const union MHD_ConnectionInfo *socket =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *peer =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct metrics_server *server = context;
    struct metrics_connection begun;

    (void)state;
    if (!socket)
        return;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        metrics_connections_remove(&server->connections, socket->connect_fd);
        return;
    }
    begun = (struct metrics_connection){ .fd = socket->connect_fd,
        .address = address_of(peer ? peer->client_addr : NULL),
        .begun_us = clock_monotonic_us() };
    hang_up(metrics_connections_add(&server->connections, &begun));
}

/* Milliseconds until the library's next timeout or the next deadline; -1: neither exists. */
static int wait_ms(const struct metrics_server *server)
{
    int64_t deadline_us = metrics_connections_next_us(&server->connections, clock_monotonic_us());
    int64_t ms = deadline_us < 0 ? -1 : deadline_us / 1000 + 1;
    MHD_UNSIGNED_LONG_LONG library_ms;

    if (MHD_get_timeout(server->daemon, &library_ms) == MHD_YES && (ms < 0 || library_ms < (uint64_t)ms))
        ms = (int64_t)library_ms;
    return (int)ms;
}

static void *run_listener(void *argument)
{
    struct metrics_server *server = argument;
    struct pollfd wanted[] = {
        { .fd = server->stopping, .events = POLLIN },
        { .fd = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN },
    };

    while (wanted[0].revents == 0) {
        int fd;

        (void)poll(wanted, 2, wait_ms(server));
        (void)MHD_run(server->daemon);
        while ((fd = metrics_connections_overdue(&server->connections, clock_monotonic_us())) !=
               METRICS_NO_CONNECTION)
            hang_up(fd);
    }
    return NULL;
}

/* ---- listening ---- */

static void log_address(const struct metrics_server *server, const char *address, int fd)
{
    char url[HOST_BYTES + 32];

    if (strncmp(address, "unix:", 5) == 0)
        snprintf(url, sizeof(url), "%s", address);
    else
        snprintf(url, sizeof(url), "http://%.*s:%d", (int)(strrchr(address, ':') - address), address,
            listen_socket_port(fd));
    log_event(LOG_INFO, server->collect ? "metrics" : "probes", log_text("address", url));
}

/* Free a server that could not be started. The library closes its listening socket. */
static void discard(struct metrics_server *server, int fd)
{
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    else
        close(fd);
    if (server->stopping >= 0)
        close(server->stopping);
    free(server);
}

static enum status start_listener(
    const char *address, struct metrics_server served, struct metrics_server **out, struct error *err)
{
    struct metrics_server *server;
    int fd;

    TRY(listen_socket_open(address, BACKLOG, &fd, err));
    server = xcalloc(1, sizeof(*server));
    *server = served;
    server->stopping = eventfd(0, EFD_CLOEXEC);
    server->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle_request, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)LIBRARY_CONNECTIONS,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_END);
    if (server->stopping < 0 || !server->daemon) {
        discard(server, fd);
        return error_set(err, STATUS_UNAVAILABLE, "cannot start the listener on %s", address);
    }
    log_address(server, address, fd);
    if (pthread_create(&server->thread, NULL, run_listener, server) != 0)
        abort(); /* no memory for a thread's stack */
    *out = server;
    return STATUS_OK;
}

enum status metrics_server_start(const char *address, metrics_collect_fn *collect, void *context,
    struct metrics_server **out, struct error *err)
{
    return start_listener(
        address, (struct metrics_server){ .collect = collect, .context = context }, out, err);
}

enum status metrics_server_start_probes(
    const char *address, probe_ready_fn *ready, void *context, struct metrics_server **out, struct error *err)
{
    return start_listener(address, (struct metrics_server){ .ready = ready, .context = context }, out, err);
}

void metrics_server_stop(struct metrics_server *server)
{
    if (!server)
        return;
    (void)eventfd_write(server->stopping, 1);
    pthread_join(server->thread, NULL);
    MHD_stop_daemon(server->daemon);
    close(server->stopping);
    free(server);
}
