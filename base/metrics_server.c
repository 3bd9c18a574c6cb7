/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_server.c - see the header. One thread of libmicrohttpd, few connections and short time limits: clients that
 * read metrics cannot slow down the service.
 */
#include "base/metrics_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/digits.h"
#include "base/log.h"

enum { MAX_CONNECTIONS = 16, CONNECTION_TIMEOUT_S = 10, BACKLOG = 16, HOST_BYTES = 256 };

struct metrics_server {
    struct MHD_Daemon *daemon;
    metrics_collect_fn *collect; /* NULL: the listener is for probes */
    probe_ready_fn *ready;       /* NULL: the listener is for metrics */
    void *context;
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
    if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES)
        result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

/* Write the body. Returns the HTTP status code: MHD_HTTP_NOT_FOUND if there is no such page. */
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

/* ---- listening ---- */

static int listen_unix(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd;

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 && errno == ECONNREFUSED)
        (void)unlink(path); /* left behind by a process that crashed */
    if (fd >= 0 &&
        (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, BACKLOG) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int listen_one(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    int yes = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    close(fd);
    return -1;
}

static int listen_tcp(const char *text)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    const char *colon = strrchr(text, ':');
    bool bracketed = text[0] == '[';
    struct addrinfo *found = NULL;
    char host[HOST_BYTES];
    int fd;

    snprintf(host, sizeof(host), "%.*s", (int)(colon - text) - (bracketed ? 2 : 0), text + bracketed);
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    fd = listen_one(found);
    freeaddrinfo(found);
    return fd;
}

static int port_of(int fd)
{
    struct sockaddr_storage address = { 0 };
    socklen_t size = sizeof(address);
    char port[16] = "0";
    uint64_t number;

    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0)
        (void)getnameinfo((struct sockaddr *)&address, size, NULL, 0, port, sizeof(port), NI_NUMERICSERV);
    return digits_parse_unsigned(str_of(port), 65535, &number) ? (int)number : 0;
}

static void log_address(const struct metrics_server *server, const char *address, int fd)
{
    char url[HOST_BYTES + 32];

    if (strncmp(address, "unix:", 5) == 0)
        snprintf(url, sizeof(url), "%s", address);
    else
        snprintf(
            url, sizeof(url), "http://%.*s:%d", (int)(strrchr(address, ':') - address), address, port_of(fd));
    log_event(LOG_INFO, server->collect ? "metrics" : "probes", log_text("address", url));
}

static enum status start_listener(
    const char *address, struct metrics_server served, struct metrics_server **out, struct error *err)
{
    int fd = strncmp(address, "unix:", 5) == 0 ? listen_unix(address + 5) : listen_tcp(address);
    struct metrics_server *server;

    if (fd < 0)
        return error_set(err, STATUS_UNAVAILABLE, "cannot listen on %s: %s", address, strerror(errno));
    server = xcalloc(1, sizeof(*server));
    *server = served;
    server->daemon =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, handle_request,
            server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_TIMEOUT_S, MHD_OPTION_END);
    if (!server->daemon) {
        close(fd);
        free(server);
        return error_set(err, STATUS_UNAVAILABLE, "cannot start the listener on %s", address);
    }
    log_address(server, address, fd);
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
    MHD_stop_daemon(server->daemon);
    free(server);
}
