/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c - a request and its reply, between the library and the owner.
 *
 *            asked to read               all of the body        asked to reply, send or end           completed
 *   BEGUN --------------> READING ----------------------> TOLD -----------------------------> ANSWERING -----> ended
 *     |----------------------------- asked to reply --------------------------------------------^
 *     '----- asked to reply, and a small body is on its way ---> DISCARDING ---- all of it -----^
 *
 * A wish is what the owner has asked for and the server's thread has not done yet: to read, reply, send or
 * end. The library calls exchange_handle when the headers are there, for each part of a body, and when it can
 * accept the reply. If there is no wish at the end of the owner's event, the connection is suspended; the
 * library calls again when it is resumed. Only the server's thread suspends and resumes, so both come in the
 * order of the wishes.
 *
 * While a body arrives, the library accepts no reply: a reply that is made then waits until the rest of the
 * body has been discarded.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/inflate.h"
#include "http/request_head.h"
#include "http/server_parts.h"

/* After the limit of a body so many more bytes are read, so that the client reads the reply. */
enum {
    DISCARDED_BYTES = 1024 * 1024,
    /*
     * A body of up to so many bytes is read even if the reply is known: if the connection were closed before,
     * the reply could be lost.
     */
    AWAITED_BYTES = 64 * 1024,
    /* of the library's memory: its record of a header, and what the headers of a reply may need */
    HEADER_RECORD_BYTES = 64,
    REPLY_BYTES = 1536,
    MAX_HEADERS = 128,
};

/* ---- the request ---- */

static struct exchange *exchange_new(struct connection *connection)
{
    struct exchange *exchange = xcalloc(1, sizeof(*exchange));
    struct arena *arena = &exchange->base.arena;

    arena_init(arena);
    buf_init(&exchange->base.reply.body, arena);
    exchange->server = connection->server;
    exchange->connection = connection;
    exchange->base.context = connection->server->options.context;
    exchange->base.begun_us = clock_monotonic_us();
    return exchange;
}

/* ---- wishes ---- */

/* Add a wish, and wake the thread if the exchange is asleep. The lock is held. */
static void add_wish(struct exchange *exchange, enum exchange_wish wish)
{
    struct http_server *server = exchange->server;
    bool wakes = exchange->asleep;

    exchange->wishes |= (unsigned)wish;
    exchange->asleep = false;
    if (!wakes)
        return;
    if (!server->woken && !pthread_equal(pthread_self(), server->self))
        (void)eventfd_write(server->wake, 1);
    exchange->next_woken = NULL;
    *server->last_woken = exchange;
    server->last_woken = &exchange->next_woken;
}

static void wish(struct http_exchange *base, enum exchange_wish wish, struct str bytes)
{
    struct exchange *exchange = (struct exchange *)base;
    struct http_server *server = exchange->server;

    pthread_mutex_lock(&server->lock);
    if (wish == WISH_SEND || wish == WISH_END) {
        exchange->is_stream = true;
        buf_append(&exchange->outgoing, bytes);
    }
    exchange->sent_is_due = exchange->sent_is_due || wish == WISH_SEND;
    exchange->is_over = exchange->is_over || wish == WISH_REPLY || wish == WISH_END;
    add_wish(exchange, wish);
    pthread_mutex_unlock(&server->lock);
}

void http_exchange_read(struct http_exchange *exchange)
{
    wish(exchange, WISH_READ, STR_EMPTY);
}

void http_exchange_reply(struct http_exchange *exchange)
{
    wish(exchange, WISH_REPLY, STR_EMPTY);
}

void http_exchange_send(struct http_exchange *exchange, struct str bytes)
{
    wish(exchange, WISH_SEND, bytes);
}

void http_exchange_end(struct http_exchange *exchange, struct str bytes)
{
    wish(exchange, WISH_END, bytes);
}

void http_exchange_authenticated(struct http_exchange *base)
{
    struct exchange *exchange = (struct exchange *)base;

    pthread_mutex_lock(&exchange->server->lock);
    exchange->is_authenticated = true;
    pthread_mutex_unlock(&exchange->server->lock);
}

/* Take the wishes since the last call. 0: there are none, and the exchange is asleep from now on. */
static unsigned take_wishes(struct exchange *exchange, bool sleeps)
{
    unsigned wishes;

    pthread_mutex_lock(&exchange->server->lock);
    wishes = exchange->wishes;
    exchange->wishes = 0;
    exchange->asleep = sleeps && wishes == 0;
    pthread_mutex_unlock(&exchange->server->lock);
    return wishes;
}

/* If there is no wish, put the exchange to sleep. Returns whether it is asleep. */
static bool falls_asleep(struct exchange *exchange)
{
    bool asleep;

    pthread_mutex_lock(&exchange->server->lock);
    asleep = exchange->asleep = exchange->wishes == 0;
    pthread_mutex_unlock(&exchange->server->lock);
    return asleep;
}

/* ---- the end ---- */

static void end_exchange(struct exchange *exchange)
{
    const struct http_events *events = &exchange->server->options.events;

    log_event(LOG_DEBUG, "http_request", log_text("listener", exchange->server->options.name),
        log_number("status", exchange->base.reply.status),
        log_number("body_bytes", (int64_t)exchange->body.len),
        log_number("duration_us", clock_monotonic_us() - exchange->base.begun_us));
    if (events->ended)
        events->ended(&exchange->base);
    exchange->server->exchanges--;
    buf_cleanup(&exchange->body);
    buf_cleanup(&exchange->outgoing);
    arena_cleanup(&exchange->base.arena);
    free(exchange);
}

static bool exchange_is_over(struct exchange *exchange)
{
    bool is_over;

    pthread_mutex_lock(&exchange->server->lock);
    is_over = exchange->is_over;
    pthread_mutex_unlock(&exchange->server->lock);
    return is_over;
}

void exchange_tell_gone(struct exchange *exchange, enum http_absence absence)
{
    const struct http_events *events = &exchange->server->options.events;

    if (exchange_is_over(exchange) || exchange->told_gone)
        return;
    exchange->told_gone = true;
    if (events->gone)
        events->gone(&exchange->base, absence);
}

/*
 * The exchange has no connection any more: end it if its owner has ended it, or else let it sleep until then.
 */
static void end_or_sleep(struct exchange *exchange)
{
    do {
        if (exchange_is_over(exchange)) {
            end_exchange(exchange);
            return;
        }
    } while (take_wishes(exchange, true) != 0);
}

/* Separate the exchange from its connection, which has finished with it. */
static void leave_connection(struct exchange *exchange)
{
    pthread_mutex_lock(&exchange->server->lock);
    exchange->connection->authenticated = exchange->connection->authenticated || exchange->is_authenticated;
    pthread_mutex_unlock(&exchange->server->lock);
    exchange->connection->exchange = NULL;
    exchange->connection = NULL;
    exchange_tell_gone(exchange, HTTP_CLOSED);
    end_or_sleep(exchange);
}

void exchange_completed(
    void *context, struct MHD_Connection *library, void **state, enum MHD_RequestTerminationCode code)
{
    struct connection *connection = connection_of(library);
    struct exchange *exchange = connection ? connection->exchange : NULL;

    (void)context;
    (void)state;
    if (!connection)
        return;
    if (code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
        connection_count_closed(connection, HTTP_REASON_SLOW);
    free(connection->target);
    connection->target = NULL;
    connection_enter(connection, CONNECTION_IDLE, 0);
    if (exchange)
        leave_connection(exchange);
}

/* ---- events ---- */

static void tell_again(struct exchange *exchange)
{
    exchange->server->is_fed = true;
    exchange->server->options.events.body(&exchange->base);
}

/* Call `body` again as often as the owner asks for it. Returns the owner's other wishes; 0: none yet. */
static unsigned next_wishes(struct exchange *exchange, bool sleeps)
{
    unsigned wishes = take_wishes(exchange, sleeps);

    while (wishes == WISH_READ && exchange->state >= EXCHANGE_TOLD) {
        tell_again(exchange);
        wishes = take_wishes(exchange, sleeps);
    }
    return wishes;
}

/*
 * The Content-Length exceeds the limit. The library can accept a reply at once, since no part of the body has
 * been read.
 */
static bool is_too_large(const struct exchange *exchange)
{
    uint64_t length;

    return request_head_length(&exchange->base.request, &length) &&
           length > exchange->server->options.limits.body_bytes;
}

/*
 * Whether to read the body before the reply is sent. If the reply were sent before the end of the request,
 * the library would close the connection. So a small body, or the end of a request without one, is read
 * first.
 */
static bool waits_for_body(const struct exchange *exchange, unsigned wishes)
{
    const struct http_request *request = &exchange->base.request;
    uint64_t length = 0;

    return exchange->state == EXCHANGE_BEGUN && (wishes & WISH_REPLY) &&
           !http_request_has_header(request, "Expect") && request_head_length(request, &length) &&
           length <= AWAITED_BYTES;
}

static void put_back(struct exchange *exchange, unsigned wishes)
{
    pthread_mutex_lock(&exchange->server->lock);
    exchange->wishes |= wishes;
    pthread_mutex_unlock(&exchange->server->lock);
}

/* Nothing more of the client has arrived, neither bytes nor the end of what it sends. */
static bool is_silent(const struct connection *connection)
{
    char byte;

    return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

/*
 * Most replies are known as soon as all that has arrived has been told. The library then asks for such a
 * reply in the next round, so the connection need not be suspended and resumed.
 *
 * The library learns of bytes and of the client's end by edges. If both come in one edge, it reads the bytes
 * and does not notice the end. So the connection of such a client is suspended: a resumed connection is read
 * again. TLS has buffers of its own, which a look at the socket does not show.
 */
static bool lingers(struct exchange *exchange)
{
    bool first = exchange->state == EXCHANGE_TOLD && !exchange->has_lingered && !exchange->server->tls &&
                 is_silent(exchange->connection);

    exchange->has_lingered = exchange->has_lingered || first;
    return first;
}

static enum MHD_Result go_on(struct exchange *exchange)
{
    bool stays = lingers(exchange);
    unsigned wishes = next_wishes(exchange, !stays);

    if (waits_for_body(exchange, wishes)) {
        put_back(exchange, wishes);
        exchange->state = EXCHANGE_DISCARDING;
        connection_enter(exchange->connection, CONNECTION_BODY, 0);
        return MHD_YES;
    }
    if (exchange->state == EXCHANGE_BEGUN && (wishes & WISH_READ) && is_too_large(exchange)) {
        exchange->state = EXCHANGE_TOLD;
        exchange->server->options.events.refused(&exchange->base, HTTP_BODY_TOO_LARGE);
        wishes = next_wishes(exchange, true);
    }
    if (wishes == 0 && stays) {
        exchange->server->has_lingering = true;
        return MHD_YES;
    }
    if (wishes == 0) {
        connection_enter(exchange->connection, CONNECTION_WORKING, 0);
        MHD_suspend_connection(exchange->connection->library);
        return MHD_YES;
    }
    if (exchange->state == EXCHANGE_BEGUN && (wishes & WISH_READ)) {
        exchange->state = EXCHANGE_READING;
        connection_enter(exchange->connection, CONNECTION_BODY, 0);
        return MHD_YES;
    }
    exchange->state = EXCHANGE_ANSWERING;
    return exchange_answer(exchange);
}

static size_t header_bytes(const struct connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection->library, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

    return info ? info->header_size : 0;
}

static size_t header_count(const struct connection *connection)
{
    int count = MHD_get_connection_values(connection->library, MHD_HEADER_KIND, NULL, NULL);

    return count > 0 ? (size_t)count : 0;
}

/*
 * Whether request line and headers exceed their limit, or the headers their number. The library reads more than that,
 * until its memory is full. A reply of the owner would then not fit into the memory that is left, and the client would
 * get none.
 */
static bool has_long_headers(const struct connection *connection)
{
    return header_bytes(connection) > connection->server->options.limits.header_bytes ||
           header_count(connection) > MAX_HEADERS;
}

/* Whether the headers may have left too little of the library's memory for a reply: long ones, or very many. */
static bool has_no_room(const struct connection *connection)
{
    return header_bytes(connection) + header_count(connection) * HEADER_RECORD_BYTES + REPLY_BYTES >
           connection->server->memory_bytes;
}

#define TOO_LONG_TEXT "the request line and the headers are too long, or the headers too many\n"

/* Send the reply past the library, which has no memory left for it, and end the connection. */
static enum MHD_Result refuse_without_room(struct connection *connection)
{
    static const char reply[] = "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
                                "Content-Length: 71\r\n\r\n" TOO_LONG_TEXT;
    const union MHD_ConnectionInfo *tls =
        MHD_get_connection_info(connection->library, MHD_CONNECTION_INFO_GNUTLS_SESSION);

    _Static_assert(sizeof(TOO_LONG_TEXT) - 1 == 71, "the length that the reply says");
    if (tls)
        (void)gnutls_record_send(tls->tls_session, reply, sizeof(reply) - 1);
    else
        (void)send(connection->fd, reply, sizeof(reply) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    connection_hang_up(connection, HTTP_REASON_MALFORMED);
    return MHD_NO;
}

/* Send a reply of the server's own. The request is never shown to an owner. */
static enum MHD_Result refuse_request(struct connection *connection, unsigned status, const char *text)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result;

    connection_count_closed(connection, HTTP_REASON_MALFORMED);
    (void)MHD_add_response_header(response, "Connection", "close");
    result = MHD_queue_response(connection->library, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result begin_exchange(struct connection *connection, const struct request_head *head)
{
    struct exchange *exchange;
    const char *fault;

    if (has_no_room(connection))
        return refuse_without_room(connection);
    if (has_long_headers(connection))
        return refuse_request(connection, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, TOO_LONG_TEXT);
    exchange = exchange_new(connection);
    fault = request_head_read(connection, head, &exchange->base.arena, &exchange->base.request);
    if (fault) {
        arena_cleanup(&exchange->base.arena);
        free(exchange);
        return refuse_request(connection, MHD_HTTP_BAD_REQUEST, fault);
    }
    exchange->base.reply.closes = http_request_has_header(&exchange->base.request, "Transfer-Encoding");
    connection->exchange = exchange;
    connection->server->exchanges++;
    connection_enter(connection, CONNECTION_WORKING, 0);
    exchange->server->options.events.begin(&exchange->base);
    return go_on(exchange);
}

/*
 * Keep a part of the body. MHD_NO: the client goes on sending after the limit; the library closes the
 * connection.
 */
static enum MHD_Result take_part(struct exchange *exchange, struct str part)
{
    size_t max = exchange->server->options.limits.body_bytes;

    if (exchange->state == EXCHANGE_READING && exchange->discarded_bytes == 0 &&
        exchange->body.len + part.len <= max) {
        buf_append(&exchange->body, part);
        return MHD_YES;
    }
    exchange->discarded_bytes += part.len;
    buf_cleanup(&exchange->body);
    return exchange->discarded_bytes <= max + DISCARDED_BYTES ? MHD_YES : MHD_NO;
}

static void tell_body(struct exchange *exchange)
{
    const struct http_events *events = &exchange->server->options.events;
    size_t max = exchange->server->options.limits.body_bytes;
    struct http_request *request = &exchange->base.request;
    enum http_refusal refusal;
    bool is_told, is_whole;
    size_t made;

    exchange->state = EXCHANGE_TOLD;
    exchange->server->is_fed = true;
    connection_enter(exchange->connection, CONNECTION_WORKING, 0);
    request->body = exchange->body.len > 0 ? buf_str(&exchange->body) : STR_EMPTY;
    if (exchange->discarded_bytes > 0) {
        events->refused(&exchange->base, HTTP_BODY_TOO_LARGE);
        return;
    }
    is_told = events->may_inflate && inflate_is_due(request);
    if (is_told && !events->may_inflate(&exchange->base))
        return;
    is_whole = inflate_body(request, max, &exchange->base.arena, &made, &refusal);
    if (is_told)
        events->inflated(&exchange->base, made);
    if (is_whole)
        events->body(&exchange->base);
    else
        events->refused(&exchange->base, refusal);
}

enum MHD_Result exchange_handle(void *context, struct MHD_Connection *library, const char *url,
    const char *method, const char *version, const char *upload, size_t *upload_size, void **state)
{
    struct connection *connection = connection_of(library);
    struct exchange *exchange;

    (void)context;
    (void)state;
    if (!connection)
        return MHD_NO;
    exchange = connection->exchange;
    if (!exchange && !connection_admits_client(connection))
        return MHD_NO;
    if (!exchange)
        return begin_exchange(
            connection, &(struct request_head){ method, url, version, header_bytes(connection) });
    if (*upload_size > 0) {
        struct str part = str_of_bytes(upload, *upload_size);

        *upload_size = 0;
        return take_part(exchange, part);
    }
    if (exchange->state == EXCHANGE_READING)
        tell_body(exchange);
    return go_on(exchange);
}

/* ---- waking ---- */

static struct exchange *take_woken(struct http_server *server)
{
    struct exchange *woken;

    pthread_mutex_lock(&server->lock);
    woken = server->woken;
    server->woken = NULL;
    server->last_woken = &server->woken;
    pthread_mutex_unlock(&server->lock);
    return woken;
}

/* Whether the owner asks for nothing but another event `body`. All other wishes stay for exchange_handle. */
static bool wishes_body_again(struct exchange *exchange)
{
    bool again;

    pthread_mutex_lock(&exchange->server->lock);
    again = exchange->wishes == WISH_READ && exchange->state >= EXCHANGE_TOLD;
    if (exchange->state == EXCHANGE_BEGUN && (exchange->wishes & WISH_READ))
        exchange->state = EXCHANGE_READING;
    if (again || exchange->state == EXCHANGE_READING)
        exchange->wishes &= ~(unsigned)WISH_READ;
    pthread_mutex_unlock(&exchange->server->lock);
    return again;
}

/* Carry on an exchange that was woken. Its connection is suspended. */
static void go_on_woken(struct exchange *exchange)
{
    struct connection *connection = exchange->connection;

    while (wishes_body_again(exchange)) {
        tell_again(exchange);
        if (falls_asleep(exchange))
            return;
    }
    connection_enter(
        connection, exchange->state == EXCHANGE_READING ? CONNECTION_BODY : CONNECTION_SENDING, 0);
    MHD_resume_connection(connection->library);
}

bool exchange_run_woken(struct http_server *server)
{
    struct exchange *woken = take_woken(server);
    bool any = woken != NULL;

    while (woken) {
        struct exchange *exchange = woken;

        woken = exchange->next_woken;
        if (exchange->connection)
            go_on_woken(exchange);
        else
            end_or_sleep(exchange);
    }
    return any;
}

bool exchange_tell_sent(struct http_server *server)
{
    struct exchange *sent = server->sent;
    bool any = sent != NULL;

    server->sent = NULL;
    while (sent) {
        struct exchange *exchange = sent;

        sent = exchange->next_sent;
        server->options.events.sent(&exchange->base);
    }
    return any;
}
