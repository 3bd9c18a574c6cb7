/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - a listener for HTTP/1.1: requests come as events, replies are values. It knows no tables and no methods.
 *
 * One thread serves all connections. No event handler may block. The functions of an exchange may be called from any thread,
 * one at a time per exchange; while its owner works on it, the exchange holds no thread: its connection is suspended.
 *
 * Life of an exchange, which is one request and its reply:
 *
 *   begin ---> http_exchange_read ---> body ---> http_exchange_reply ----------------> ended
 *                                           \--> http_exchange_send ---> sent ---> ... http_exchange_end ---> ended
 *
 * In `begin` there are the headers and nothing else; the body stays with the connection until the owner asks for it. So a
 * caller without the permission is refused before the body is read. In each event, or later, the owner asks for the body,
 * replies, or sends. `ended` is always the last event, and comes only after http_exchange_reply or http_exchange_end; then
 * the exchange is gone. `refused` comes in the place of `body` where that is too large or damaged. `gone` comes at most
 * once, before the owner has ended the exchange: the owner must still do so, and what it sends goes nowhere. The events of one
 * exchange never overlap.
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
    struct arena arena; /* of one thread at a time; released behind `ended` */
    void *context;      /* of the server's owner */
    void *state;        /* the owner's */
    int64_t begun_us;   /* clock_monotonic_us: the headers were complete */
};

/* Why there is no body. */
enum http_refusal {
    HTTP_BODY_TOO_LARGE,       /* before or after it is inflated; 413 */
    HTTP_BODY_DAMAGED,         /* it cannot be inflated; 400 */
    HTTP_BODY_UNKNOWN_ENCODING /* a Content-Encoding that is neither gzip, deflate nor identity; 415 */
};

/* Why the client gets no reply, or no whole one. */
enum http_absence {
    /* The connection is gone, or the client has said that it will send no more: the library closes the connection then. */
    HTTP_CLOSED,
    HTTP_STOPPING, /* the server stops, and its grace is over */
};

struct http_events {
    void (*begin)(struct http_exchange *exchange);
    void (*body)(struct http_exchange *exchange);
    void (*refused)(struct http_exchange *exchange, enum http_refusal refusal);
    /*
     * A compressed body has come. true: inflate it, and tell with `inflated`, before `body` or `refused`, how many bytes it has
     * become, or had become when inflating failed. false: the exchange has its reply. Both NULL: all are inflated.
     */
    bool (*may_inflate)(struct http_exchange *exchange);
    void (*inflated)(struct http_exchange *exchange, size_t bytes);
    /* What http_exchange_send was given has left: the next may be sent. May be NULL if nothing is ever sent. */
    void (*sent)(struct http_exchange *exchange);
    /* May be NULL. */
    void (*gone)(struct http_exchange *exchange, enum http_absence absence);
    /* May be NULL. */
    void (*ended)(struct http_exchange *exchange);
    /* All that had arrived has been told: a good moment to run a batch. May be NULL. */
    void (*drained)(void *context);
};

/* What clients may take of a server. 0: the default, which is in http/limits.h. */
struct http_limits {
    int connections;             /* in all; a new one takes the place of the oldest that is idle */
    int connections_per_address; /* for IPv6: per 64 bits of it; not on Unix sockets. 0: as many as in all */
    size_t header_bytes;         /* request line and headers together */
    size_t body_bytes;           /* before and after it is inflated */
    int64_t
        first_request_ms; /* from the beginning of a connection to the end of its first request's headers */
    int64_t
        idle_ms; /* from a reply to the end of the next request's headers; and a reply that makes no progress */
    int64_t body_ms; /* from the headers of a request to the last byte of its body */
};

/* Paths of files in PEM, read again when they change. */
struct http_tls {
    const char *certificate; /* the chain, the server's own first */
    const char *key;
    const char *client_ca; /* callers must show a certificate one of these has signed; NULL: they need none */
};

/* Why connections were closed by the server. */
enum http_reason {
    HTTP_REASON_FULL,        /* no room for the new one, or the new one took its room */
    HTTP_REASON_PER_ADDRESS, /* too many from one address */
    HTTP_REASON_SLOW,        /* headers, body or reply took too long */
    HTTP_REASON_MALFORMED,   /* two lengths, or a length beside chunks */
    HTTP_REASON_IDLE,        /* no next request came */
    HTTP_REASONS
};

struct http_connections {
    int open, busy; /* busy: those with an exchange */
    uint64_t closed[HTTP_REASONS];
};

struct http_options {
    const char *listen; /* "127.0.0.1:10002", "[::1]:0", "unix:/path" */
    const char *name;   /* of log lines: "http", "metrics" */
    struct http_limits limits;
    const struct http_tls *tls; /* NULL: plain text */
    struct http_events events;
    void *context; /* given to `drained`, and in exchanges */
};

/*
 * Bind and start. STATUS_UNAVAILABLE: the address is in use or not ours; the message names it.
 * STATUS_INVALID: the files of tls cannot be used.
 */
MUST_USE enum status http_server_start(
    const struct http_options *options, struct http_server **out, struct error *err);

/* The port that was bound (of use with port 0); 0 for a Unix socket. */
int http_server_port(const struct http_server *server);

/*
 * Begin to stop: take no new connections, close idle ones, let open exchanges end for at most grace_ms, and then tell `gone`
 * to the rest. Requests that come meanwhile on open connections still begin. Does not wait. Accepts NULL.
 */
void http_server_drain(struct http_server *server, int64_t grace_ms);

/* The same, unless it was done already; then wait for the end of all exchanges and free the server. Accepts NULL. */
void http_server_stop(struct http_server *server, int64_t grace_ms);

/* Connections now, and what has become of others. Any thread. */
void http_server_read_connections(struct http_server *server, struct http_connections *out);

/* "full", "per_address", ...: a word for a log or a label. */
const char *http_server_reason_name(enum http_reason reason);

/*
 * Memory is short: close idle connections, the longest idle first, at most that many; with `all`, also those on which a body
 * is on its way. Any thread; it happens soon. Accepts NULL.
 */
void http_server_shed(struct http_server *server, int count, bool all);

/* ---- an exchange ---- */

/*
 * Ask for the body: answered by `body`, `refused` or `gone`. Before the reply; behind `body`, the event comes again, with the
 * same body: an owner that takes it apart goes on in the thread of events.
 */
void http_exchange_read(struct http_exchange *exchange);

/* Send exchange->reply: status, headers and body. The exchange belongs to the server until `ended`. */
void http_exchange_reply(struct http_exchange *exchange);

/*
 * Send the first or the next bytes of a body whose length is not known; with the first go the status and headers of
 * exchange->reply. The bytes are copied. One at a time: wait for `sent` or `gone`.
 */
void http_exchange_send(struct http_exchange *exchange, struct str bytes);

/* End a body that http_exchange_send has begun, behind the given bytes (copied; may be empty), sent or not. */
void http_exchange_end(struct http_exchange *exchange, struct str bytes);

/* The client has shown who it is: its connection is not the first to make room for new ones. Before the end. */
void http_exchange_authenticated(struct http_exchange *exchange);

#endif
