/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - start, the thread, stop.
 *
 * One thread runs libmicrohttpd (the library), which finds ready sockets with its own epoll. The server's
 * epoll holds that one, a wake-up for other threads, and connections whose owners work for long. When all
 * that has arrived has been passed to the owner, the owner runs it as a batch, in this thread or in others.
 * Replies that are ready then leave in the next round.
 */
#include "http/server.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/limits.h"
#include "http/listen_socket.h"
#include "http/server_parts.h"

enum {
    EVENTS = 64,
    /*
     * The library's limit has room for connections that were shut down and that the library has not closed
     * yet.
     */
    SPARE_CONNECTIONS = 256,
    STOP_LOOK_MS = 20,
    REPLY_HEADER_BYTES = 4 * 1024,
    URL_BYTES = 320,
    US_PER_MS = 1000,
    MS_PER_SECOND = 1000,
};

/* The TLS versions that clients are offered, as a GnuTLS priority string. */
#define TLS_VERSIONS "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"

/* ---- the thread ---- */

/* The client of a suspended connection has gone away. */
static void tell_watched(struct connection *connection)
{
    connection->watched = false;
    (void)epoll_ctl(connection->server->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
    if (connection->exchange)
        exchange_tell_gone(connection->exchange, HTTP_CLOSED);
}

static void take_events(struct http_server *server, int wait_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(server->epoll, events, EVENTS, wait_ms);

    for (int i = 0; i < count; i++) {
        eventfd_t value;

        if (events[i].data.ptr == &server->wake)
            (void)eventfd_read(server->wake, &value);
        else if (events[i].data.ptr != server)
            tell_watched(events[i].data.ptr);
    }
}

/* Run until nothing is left that can be done at once. */
static void run_ready(struct http_server *server)
{
    bool goes_on = true;

    while (goes_on) {
        (void)exchange_run_woken(server);
        server->has_lingering = false;
        (void)MHD_run(server->daemon);
        goes_on = exchange_tell_sent(server) || server->has_lingering;
        if (server->is_fed && server->options.events.drained)
            server->options.events.drained(server->options.context, server->epoll);
        server->is_fed = false;
        goes_on = exchange_run_woken(server) || goes_on;
    }
}

static int wait_ms(struct http_server *server)
{
    int ms = connection_check_deadlines(server);
    MHD_UNSIGNED_LONG_LONG library_ms;

    if (server->stop_at_us != 0 && (ms < 0 || ms > STOP_LOOK_MS))
        ms = STOP_LOOK_MS;
    if (MHD_get_timeout(server->daemon, &library_ms) == MHD_YES && (ms < 0 || library_ms < (unsigned)ms))
        ms = library_ms > INT_MAX ? INT_MAX : (int)library_ms;
    return ms;
}

static void shed(struct http_server *server)
{
    int count;
    bool all;

    pthread_mutex_lock(&server->lock);
    count = server->shed;
    all = server->sheds_all;
    server->shed = 0;
    server->sheds_all = false;
    pthread_mutex_unlock(&server->lock);
    connection_close_idle(server, count, HTTP_REASON_FULL);
    if (all)
        connection_close_reading(server, count, HTTP_REASON_FULL);
}

/*
 * The grace of the stop is over: tell the owners, and close their connections. An exchange ends when its
 * owner ends it.
 */
static void abandon_busy(struct http_server *server)
{
    for (struct connection *connection = server->busy.first; connection; connection = connection->next) {
        if (connection->exchange)
            exchange_tell_gone(connection->exchange, HTTP_STOPPING);
        connection_hang_up(connection, HTTP_REASON_SLOW);
    }
}

/* Do what a stop requires. false: the thread may end. */
static bool goes_on(struct http_server *server)
{
    int64_t stop_at_us;

    pthread_mutex_lock(&server->lock);
    stop_at_us = server->asked_stop_at_us;
    pthread_mutex_unlock(&server->lock);
    if (stop_at_us == 0)
        return true;
    if (server->stop_at_us == 0) {
        int fd = MHD_quiesce_daemon(server->daemon);

        if (fd >= 0)
            close(fd);
    }
    server->stop_at_us = stop_at_us;
    connection_close_idle(server, server->idle.count, HTTP_REASON_IDLE);
    if (clock_monotonic_us() >= stop_at_us)
        abandon_busy(server);
    return server->idle.count + server->busy.count + server->exchanges > 0;
}

static void *serve(void *argument)
{
    struct http_server *server = argument;

    server->self = pthread_self();
    while (goes_on(server)) {
        take_events(server, wait_ms(server));
        shed(server);
        run_ready(server);
    }
    return NULL;
}

/* ---- start ---- */

static void fill_limits(struct http_limits *limits)
{
    if (limits->connections == 0)
        limits->connections = HTTP_MAX_CONNECTIONS;
    if (limits->header_bytes == 0)
        limits->header_bytes = HTTP_MAX_HEADER_BYTES;
    if (limits->body_bytes == 0)
        limits->body_bytes = HTTP_MAX_BODY_BYTES;
    if (limits->first_request_ms == 0)
        limits->first_request_ms = HTTP_FIRST_REQUEST_MS;
    if (limits->idle_ms == 0)
        limits->idle_ms = HTTP_IDLE_MS;
    if (limits->body_ms == 0)
        limits->body_ms = HTTP_BODY_MS;
}

/* Do not decode targets and queries: the owner does. */
static size_t leave_escaped(void *context, struct MHD_Connection *library, char *text)
{
    (void)context;
    (void)library;
    return strlen(text);
}

static struct MHD_Daemon *start_daemon(struct http_server *server, int fd)
{
    const struct http_limits *limits = &server->options.limits;
    /*
     * The library keeps in one piece of memory what it has read, a record of each header, and the headers of
     * the reply. It clears the whole piece after each request, so a large one also costs time.
     */
    size_t memory_bytes = limits->header_bytes + limits->header_bytes / 4 + REPLY_HEADER_BYTES;
    /*
     * The library's timeout, for a client that reads nothing of its reply. The deadlines of connection.c come
     * earlier.
     */
    unsigned timeout_s = (unsigned)(limits->idle_ms / MS_PER_SECOND) + 1;
    const char *client_ca = server->tls ? tls_identity_client_ca(server->tls) : NULL;
    struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)connection_show_certificate },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_VERSIONS },
        { client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, (void *)(uintptr_t)client_ca },
        { MHD_OPTION_END, 0, NULL },
    };
    struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

    server->memory_bytes = memory_bytes;
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (server->tls ? MHD_USE_TLS : 0U), 0,
        NULL, NULL, exchange_handle, server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(limits->connections + SPARE_CONNECTIONS), MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_bytes,
        MHD_OPTION_NOTIFY_CONNECTION, connection_notify, server, MHD_OPTION_NOTIFY_COMPLETED,
        exchange_completed, server, MHD_OPTION_URI_LOG_CALLBACK, connection_note_target, server,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, server,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout_s, MHD_OPTION_ARRAY, server->tls ? tls : none, MHD_OPTION_END);
}

static bool add_to_epoll(int epoll, int fd, void *tag)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = tag };

    return fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool start_loop(struct http_server *server, int fd)
{
    server->daemon = start_daemon(server, fd);
    if (!server->daemon) {
        close(fd);
        return false;
    }
    return add_to_epoll(server->epoll, server->wake, &server->wake) &&
           add_to_epoll(server->epoll,
               MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, server) &&
           pthread_create(&server->thread, NULL, serve, server) == 0;
}

static void server_free(struct http_server *server)
{
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    if (server->epoll >= 0)
        close(server->epoll);
    if (server->wake >= 0)
        close(server->wake);
    tls_identity_free(server->tls);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

static struct http_server *server_new(const struct http_options *options)
{
    struct http_server *server = xcalloc(1, sizeof(*server));

    server->options = *options;
    fill_limits(&server->options.limits);
    server->last_woken = &server->woken;
    server->next_idle_check_us = server->next_busy_check_us = INT64_MAX;
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&server->lock, NULL);
    return server;
}

static void log_address(const struct http_server *server)
{
    const char *address = server->options.listen;
    const char *scheme = server->options.tls ? "https" : "http";
    char url[URL_BYTES];

    if (server->port == 0)
        snprintf(url, sizeof(url), "%s", address);
    else
        snprintf(url, sizeof(url), "%s://%.*s:%d", scheme, (int)(strrchr(address, ':') - address), address,
            server->port);
    log_event(LOG_INFO, server->options.name, log_text("address", url));
}

enum status http_server_start(const struct http_options *options, struct http_server **out, struct error *err)
{
    struct http_server *server;
    int fd;

    struct tls_identity *tls = NULL;

    if (options->tls)
        TRY(tls_identity_open(options->tls, &tls, err));
    if (listen_socket_open(options->listen, SOMAXCONN, &fd, err) != STATUS_OK) {
        tls_identity_free(tls);
        return STATUS_UNAVAILABLE;
    }
    server = server_new(options);
    server->tls = tls;
    server->port = listen_socket_port(fd);
    if (!start_loop(server, fd)) {
        server_free(server);
        return error_set(err, STATUS_UNAVAILABLE, "cannot start the listener on %s", options->listen);
    }
    log_address(server);
    *out = server;
    return STATUS_OK;
}

int http_server_port(const struct http_server *server)
{
    return server->port;
}

void http_server_drain(struct http_server *server, int64_t grace_ms)
{
    if (!server)
        return;
    pthread_mutex_lock(&server->lock);
    if (server->asked_stop_at_us == 0)
        server->asked_stop_at_us = clock_monotonic_us() + grace_ms * US_PER_MS;
    pthread_mutex_unlock(&server->lock);
    (void)eventfd_write(server->wake, 1);
}

void http_server_stop(struct http_server *server, int64_t grace_ms)
{
    if (!server)
        return;
    http_server_drain(server, grace_ms);
    pthread_join(server->thread, NULL);
    server_free(server);
}

/* ---- numbers ---- */

void http_server_read_connections(struct http_server *server, struct http_connections *out)
{
    pthread_mutex_lock(&server->lock);
    *out = server->numbers;
    pthread_mutex_unlock(&server->lock);
}

const char *http_server_reason_name(enum http_reason reason)
{
    static const char *const names[HTTP_REASONS] = { "full", "per_address", "slow", "malformed", "idle" };

    return names[reason];
}

void http_server_shed(struct http_server *server, int count, bool all)
{
    if (!server)
        return;
    pthread_mutex_lock(&server->lock);
    server->shed += count;
    server->sheds_all = server->sheds_all || all;
    pthread_mutex_unlock(&server->lock);
    (void)eventfd_write(server->wake, 1);
}
