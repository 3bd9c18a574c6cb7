/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - a listener for HTTP/1.1: requests arrive as events, replies are values. The server knows neither
 * tables nor methods.
 *
 * One thread serves all connections. No event handler may block. The functions of an exchange may be called
 * from any thread, but by one thread at a time per exchange. While its owner works on an exchange, the
 * exchange holds no thread: its connection is suspended.
 *
 * Life of an exchange, which is one request and its reply:
 *
 *   begin ---> http_exchange_read ---> body ---> http_exchange_reply ----------------> ended
 *                                           \--> http_exchange_send ---> sent ---> ... http_exchange_end ---> ended
 *
 * In `begin` the owner has the headers and nothing else; the body stays in the connection until the owner
 * asks for it. So a caller without permission is refused before the body is read. In each event, or later,
 * the owner asks for the body, replies, or sends. `refused` comes instead of `body` if the body is too large
 * or damaged. `gone` comes at most once, before the owner has ended the exchange; the owner must still end
 * it, and bytes that it sends are dropped. `ended` is always the last event: it comes only after
 * http_exchange_reply or http_exchange_end, and the exchange is freed after it. The events of one exchange
 * never overlap.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "http/message.h"

struct http_server;

/* The part of an exchange that its owner uses. */
struct http_exchange {
    struct http_request request;
    struct http_reply reply;
    struct arena arena; /* used by one thread at a time; freed after `ended` */
    void *context;      /* http_options.context */
    void *state;        /* set by the owner */
    int64_t begun_us;   /* clock_monotonic_us of the end of the headers */
};

/* Why a request has no body, with the HTTP status that fits. */
enum http_refusal {
    HTTP_BODY_TOO_LARGE,       /* before or after inflating; 413 */
    HTTP_BODY_DAMAGED,         /* it cannot be inflated; 400 */
    HTTP_BODY_UNKNOWN_ENCODING /* a Content-Encoding that is neither gzip, deflate nor identity; 415 */
};

/* Why the client gets no reply, or only a part of it. */
enum http_absence {
    /*
     * The connection was closed. A client that only closes its sending side counts too: the library closes
     * the connection then.
     */
    HTTP_CLOSED,
    HTTP_STOPPING, /* the grace of the server's stop is over */
};

struct http_events {
    void (*begin)(struct http_exchange *exchange);
    void (*body)(struct http_exchange *exchange);
    void (*refused)(struct http_exchange *exchange, enum http_refusal refusal);
    /*
     * A compressed body has arrived. true: inflate it; before `body` or `refused`, `inflated` gets the number
     * of inflated bytes, even if inflating failed. false: the owner has replied. Both NULL: every body is
     * inflated.
     */
    bool (*may_inflate)(struct http_exchange *exchange);
    void (*inflated)(struct http_exchange *exchange, size_t bytes);
    /*
     * The bytes of http_exchange_send have left, so the next may be sent. May be NULL if http_exchange_send
     * is never called.
     */
    void (*sent)(struct http_exchange *exchange);
    /* May be NULL. */
    void (*gone)(struct http_exchange *exchange, enum http_absence absence);
    /* May be NULL. */
    void (*ended)(struct http_exchange *exchange);
    /*
     * All requests that had arrived have been passed to the owner: the right moment to run a batch. The file
     * descriptor `arrivals` is readable as soon as the server has something else to do. May be NULL.
     */
    void (*drained)(void *context, int arrivals);
};

/* What clients may use. 0: the default of http/limits.h. */
struct http_limits {
    /* in all; a new connection takes the place of the one that has been idle for the longest time */
    int connections;
    /* an IPv6 address counts by its first 64 bits; Unix sockets do not count; 0: as many as in all */
    int connections_per_address;
    size_t header_bytes;      /* request line and headers together */
    size_t body_bytes;        /* bound of a body, before and after inflating */
    int64_t first_request_ms; /* from the start of a connection to the end of its first request's headers */
    int64_t
        /*
         * from a reply to the end of the next request's headers; also the longest pause while a reply is sent
         */
        idle_ms;
    int64_t body_ms; /* from the headers of a request to the last byte of its body */
};

/* Paths of PEM files, which are read again when they change. */
struct http_tls {
    const char *certificate; /* the chain; the server's own certificate is the first */
    const char *key;
    /* callers must present a certificate that one of these authorities has signed; NULL: callers need none */
    const char *client_ca;
};

/* Why the server has closed a connection. */
enum http_reason {
    HTTP_REASON_FULL,        /* there was no room for it, or a new connection has taken its place */
    HTTP_REASON_PER_ADDRESS, /* too many from one address */
    HTTP_REASON_SLOW,        /* headers, body or reply took too long */
    HTTP_REASON_MALFORMED,   /* two lengths, a length beside chunks, or headers beyond the limit */
    HTTP_REASON_IDLE,        /* no further request came in time */
    HTTP_REASONS
};

struct http_connections {
    int open, busy; /* busy: the connections that have an exchange */
    uint64_t closed[HTTP_REASONS];
};

struct http_options {
    const char *listen; /* "127.0.0.1:10002", "[::1]:0", "unix:/path" */
    const char *name;   /* the word for this listener in log lines: "http", "metrics" */
    struct http_limits limits;
    const struct http_tls *tls; /* NULL: plain text */
    struct http_events events;
    void *context; /* passed to `drained`; http_exchange.context */
};

/*
 * Bind and start.
 *
 * STATUS_UNAVAILABLE  the address is in use or does not belong to this machine; the message names it
 * STATUS_INVALID      the files of tls cannot be used
 */
MUST_USE enum status http_server_start(
    const struct http_options *options, struct http_server **out, struct error *err);

/* The port that was bound, which matters with port 0; 0 for a Unix socket. */
int http_server_port(const struct http_server *server);

/*
 * Begin to stop: accept no new connections, close idle ones, and let open exchanges end for at most grace_ms;
 * after that the remaining owners get `gone`. Requests that arrive meanwhile on open connections still begin.
 * Does not wait. Accepts NULL.
 */
void http_server_drain(struct http_server *server, int64_t grace_ms);

/*
 * Do what http_server_drain does, unless it was called already. Then wait for the end of all exchanges and
 * free the server. Accepts NULL.
 */
void http_server_stop(struct http_server *server, int64_t grace_ms);

/*
 * The number of connections now, and of those that the server has closed, by reason. Any thread may call it.
 */
void http_server_read_connections(struct http_server *server, struct http_connections *out);

/* The word of a reason for logs and labels: "full", "per_address", ... */
const char *http_server_reason_name(enum http_reason reason);

/*
 * Memory is short: close idle connections, those that have been idle for the longest time first, at most
 * `count`; with `all`, also connections whose bodies are still arriving. Any thread may call it; the
 * connections are closed a little later. Accepts NULL.
 */
void http_server_shed(struct http_server *server, int count, bool all);

/* ---- an exchange ---- */

/*
 * Ask for the body. The answer is `body`, `refused` or `gone`. Call it before the reply. If it is called
 * again after `body`, that event comes again with the same body, in the server's thread: an owner that works
 * through a body in parts continues there.
 */
void http_exchange_read(struct http_exchange *exchange);

/* Send exchange->reply: status, headers and body. From now on the exchange belongs to the server. */
void http_exchange_reply(struct http_exchange *exchange);

/*
 * Send bytes of a body whose length is not known. The status and headers of exchange->reply leave with the
 * first bytes. The bytes are copied. Send the next bytes after `sent`; none after `gone`.
 */
void http_exchange_send(struct http_exchange *exchange, struct str bytes);

/*
 * End a body that http_exchange_send has begun. The given bytes (copied; may be empty) are its last, even if
 * earlier bytes are still being sent.
 */
void http_exchange_end(struct http_exchange *exchange, struct str bytes);

/*
 * The client has been authenticated, so its connection is not among the first to make room for new ones. Call
 * it before the exchange is ended.
 */
void http_exchange_authenticated(struct http_exchange *exchange);

#endif
