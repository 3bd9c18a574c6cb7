/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.c - beginning and end of connections, and their limits.
 *
 * The limits of libmicrohttpd (the library) do not suffice: its timeout begins anew with each byte, it does
 * not time suspended connections, and at its limit it accepts no more connections. So each connection has a
 * deadline for its phase. If the server has as many connections as it takes, a new connection takes the place
 * of the one that has been idle for the longest time, first among those that no caller has been authenticated
 * on.
 *
 * The library does not watch a suspended connection. If the owner works for longer than WATCH_AFTER_US, the
 * server's own epoll watches the socket, so that a client that goes away is noticed.
 */
#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "http/limits.h"
#include "http/server_parts.h"

enum { WATCH_AFTER_US = 50 * 1000, US_PER_MS = 1000 };

/* ---- lists ---- */

static void add_last(struct connection_list *list, struct connection *connection)
{
    connection->previous = list->last;
    connection->next = NULL;
    if (list->last)
        list->last->next = connection;
    else
        list->first = connection;
    list->last = connection;
    list->count++;
}

static void take_out(struct connection_list *list, struct connection *connection)
{
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        list->first = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    else
        list->last = connection->previous;
    list->count--;
}

static struct connection_list *list_of(const struct connection *connection)
{
    return connection->phase == CONNECTION_IDLE ? &connection->server->idle : &connection->server->busy;
}

static void count_connections(struct http_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->numbers.open = server->idle.count + server->busy.count;
    server->numbers.busy = server->busy.count;
    pthread_mutex_unlock(&server->lock);
}

/* ---- closing, and clients that go away ---- */

void connection_count_closed(struct connection *connection, enum http_reason reason)
{
    struct http_server *server = connection->server;

    connection->hung_up = true;
    pthread_mutex_lock(&server->lock);
    server->numbers.closed[reason]++;
    pthread_mutex_unlock(&server->lock);
}

void connection_hang_up(struct connection *connection, enum http_reason reason)
{
    if (connection->hung_up)
        return;
    (void)shutdown(connection->fd, SHUT_RDWR);
    connection_count_closed(connection, reason);
}

static void watch(struct connection *connection)
{
    struct epoll_event event = { .events = EPOLLRDHUP | EPOLLONESHOT, .data.ptr = connection };

    connection->watched = epoll_ctl(connection->server->epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0;
}

static void stop_watching(struct connection *connection)
{
    if (connection->watched)
        (void)epoll_ctl(connection->server->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
    connection->watched = false;
}

/* ---- phases ---- */

static int64_t deadline_of(
    const struct connection *connection, enum connection_phase phase, size_t bytes, int64_t now_us)
{
    const struct http_limits *limits = &connection->server->options.limits;

    switch (phase) {
    case CONNECTION_IDLE:
        return now_us + limits->idle_ms * US_PER_MS;
    case CONNECTION_BODY:
        return now_us + limits->body_ms * US_PER_MS;
    case CONNECTION_WORKING:
        return now_us + WATCH_AFTER_US;
    case CONNECTION_SENDING:
        return now_us + (limits->idle_ms + (int64_t)(bytes / HTTP_MIN_BYTES_PER_MS)) * US_PER_MS;
    }
    return INT64_MAX;
}

/* Make sure that the connection's list is checked no later than at the connection's deadline. */
static void note_deadline(const struct connection *connection)
{
    struct http_server *server = connection->server;
    int64_t *next_us =
        connection->phase == CONNECTION_IDLE ? &server->next_idle_check_us : &server->next_busy_check_us;

    if (connection->deadline_us < *next_us)
        *next_us = connection->deadline_us;
}

void connection_enter(struct connection *connection, enum connection_phase phase, size_t bytes)
{
    bool moves = phase == CONNECTION_IDLE || connection->phase == CONNECTION_IDLE;

    stop_watching(connection);
    if (moves)
        take_out(list_of(connection), connection);
    connection->phase = phase;
    connection->deadline_us = deadline_of(connection, phase, bytes, clock_monotonic_us());
    note_deadline(connection);
    if (!moves)
        return;
    add_last(list_of(connection), connection);
    count_connections(connection->server);
}

/* ---- limits ---- */

static struct connection *longest_idle(struct http_server *server, bool authenticated)
{
    struct connection *connection = server->idle.first;

    while (connection && (connection->hung_up || connection->authenticated != authenticated))
        connection = connection->next;
    return connection;
}

void connection_close_idle(struct http_server *server, int count, enum http_reason reason)
{
    while (count-- > 0) {
        struct connection *connection = longest_idle(server, false);

        if (!connection)
            connection = longest_idle(server, true);
        if (!connection)
            return;
        connection_hang_up(connection, reason);
    }
}

void connection_close_reading(struct http_server *server, int count, enum http_reason reason)
{
    for (struct connection *connection = server->busy.first; connection && count > 0;
         connection = connection->next) {
        if (connection->phase != CONNECTION_BODY || connection->hung_up)
            continue;
        connection_hang_up(connection, reason);
        count--;
    }
}

/*
 * Close an idle connection in favour of the new one, or else the new one. The new connection is in no list
 * yet.
 */
static void make_room(struct connection *connection)
{
    struct http_server *server = connection->server;
    const struct http_limits *limits = &server->options.limits;
    int of_address = address_counts_add(&server->addresses, &connection->address);

    if (limits->connections_per_address > 0 && of_address > limits->connections_per_address) {
        connection_hang_up(connection, HTTP_REASON_PER_ADDRESS);
        return;
    }
    if (server->idle.count + server->busy.count < limits->connections)
        return;
    if (server->idle.count > 0)
        connection_close_idle(server, 1, HTTP_REASON_FULL);
    else
        connection_hang_up(connection, HTTP_REASON_FULL);
}

static int ms_until(int64_t deadline_us, int64_t now_us)
{
    int64_t left = deadline_us - now_us;

    return left <= 0 ? 0 : left / US_PER_MS >= INT_MAX ? INT_MAX : (int)(left / US_PER_MS) + 1;
}

/* The deadline of the connection's phase has passed. */
static void end_phase(struct connection *connection)
{
    connection->deadline_us = INT64_MAX;
    if (connection->phase == CONNECTION_WORKING)
        watch(connection);
    else
        connection_hang_up(
            connection, connection->phase == CONNECTION_IDLE ? HTTP_REASON_IDLE : HTTP_REASON_SLOW);
}

static int64_t check_list(struct connection_list *list, int64_t now_us)
{
    int64_t next_us = INT64_MAX;

    for (struct connection *connection = list->first; connection; connection = connection->next) {
        if (connection->deadline_us <= now_us)
            end_phase(connection);
        if (connection->deadline_us < next_us)
            next_us = connection->deadline_us;
    }
    return next_us;
}

int connection_check_deadlines(struct http_server *server)
{
    int64_t now_us = clock_monotonic_us();

    if (now_us >= server->next_idle_check_us)
        server->next_idle_check_us = check_list(&server->idle, now_us);
    if (now_us >= server->next_busy_check_us)
        server->next_busy_check_us = check_list(&server->busy, now_us);
    if (server->next_idle_check_us == INT64_MAX && server->next_busy_check_us == INT64_MAX)
        return -1;
    return ms_until(server->next_idle_check_us < server->next_busy_check_us ? server->next_idle_check_us
                                                                            : server->next_busy_check_us,
        now_us);
}

/* ---- callbacks ---- */

struct connection *connection_of(struct MHD_Connection *library)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static void write_peer(const struct sockaddr *address, char out[static CONNECTION_PEER_BYTES])
{
    char text[INET6_ADDRSTRLEN] = "";

    if (address && address->sa_family == AF_INET) {
        const struct sockaddr_in *ipv4 = (const void *)address;

        (void)inet_ntop(AF_INET, &ipv4->sin_addr, text, sizeof(text));
        snprintf(out, CONNECTION_PEER_BYTES, "ipv4:%s:%d", text, ntohs(ipv4->sin_port));
    } else if (address && address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *ipv6 = (const void *)address;

        (void)inet_ntop(AF_INET6, &ipv6->sin6_addr, text, sizeof(text));
        snprintf(out, CONNECTION_PEER_BYTES, "ipv6:[%s]:%d", text, ntohs(ipv6->sin6_port));
    } else {
        snprintf(out, CONNECTION_PEER_BYTES, "unix:");
    }
}

static void begin_connection(struct http_server *server, struct MHD_Connection *library, void **state)
{
    const union MHD_ConnectionInfo *peer =
        MHD_get_connection_info(library, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct connection *connection = xcalloc(1, sizeof(*connection));

    connection->server = server;
    connection->library = library;
    connection->fd = MHD_get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    connection->address = http_address_of(peer ? peer->client_addr : NULL);
    write_peer(peer ? peer->client_addr : NULL, connection->peer);
    connection->deadline_us = clock_monotonic_us() + server->options.limits.first_request_ms * US_PER_MS;
    *state = connection;
    make_room(connection);
    add_last(&server->idle, connection);
    note_deadline(connection);
    count_connections(server);
}

static void end_connection(struct connection *connection)
{
    struct http_server *server = connection->server;

    stop_watching(connection);
    take_out(list_of(connection), connection);
    (void)address_counts_remove(&server->addresses, &connection->address);
    count_connections(server);
    free(connection->target);
    free(connection);
}

void connection_notify(
    void *context, struct MHD_Connection *library, void **state, enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        begin_connection(context, library, state);
    else if (*state)
        end_connection(*state);
}

/* Keep the target as it was sent: the library decodes it in place afterwards. */
void *connection_note_target(void *context, const char *target, struct MHD_Connection *library)
{
    struct connection *connection = connection_of(library);

    (void)context;
    if (!connection)
        return NULL;
    free(connection->target);
    connection->target = strdup(target);
    return NULL;
}

/* ---- TLS ---- */

int connection_show_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
    int authority_count, const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
    gnutls_pcert_st **chain, unsigned *count, gnutls_privkey_t *key)
{
    struct connection *connection = connection_of(gnutls_session_get_ptr(session));

    (void)authorities;
    (void)authority_count;
    (void)algorithms;
    (void)algorithm_count;
    if (!connection)
        return -1;
    tls_identity_show(connection->server->tls, chain, count, key);
    return 0;
}

bool connection_admits_client(struct connection *connection)
{
    const union MHD_ConnectionInfo *info;

    if (!connection->server->tls || connection->is_admitted)
        return true;
    info = MHD_get_connection_info(connection->library, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    connection->is_admitted = info && tls_identity_admits(connection->server->tls, info->tls_session);
    return connection->is_admitted;
}
