/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - the completion-queue server: one call machine for all four kinds of method.
 *
 * It knows no tables and no messages: requests and replies are bytes. Methods are given as a table; a
 * generic call stays armed, so that unknown methods get UNIMPLEMENTED at once.
 *
 * Threads: events are delivered from the server's queue threads. The functions on a call may be used from
 * any thread, one at a time per call. No event handler may block.
 *
 * Life of a call:
 *
 *   begin ---> message* ---> half_closed (client streams) ---> ... ---> rpc_call_finish ---> ended
 *
 * In `begin` there are the metadata and nothing else: what the caller sends stays with the connection, and is bounded
 * by its window, until the handler asks for it with rpc_call_read. So a caller without the permission is refused before
 * the request is read. Unary and server-stream methods ask once and get one message. Client-stream and bidi methods ask
 * for each message; half_closed says that no more will come. `ended` is always the last event, after which the call is
 * gone; `cancelled` comes at most once before it, when the peer went away or the deadline passed: the handler must
 * still call rpc_call_finish (which then sends nothing). After that no further event message, half_closed or sent
 * comes, even if one was requested. The events of one call never overlap. A unary call that carries no message, or one that
 * cannot be read, is answered here: it has begun, and `ended` comes next.
 */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "rpc/tls.h"

struct rpc_server;
struct rpc_call;

enum rpc_kind { RPC_UNARY, RPC_CLIENT_STREAM, RPC_SERVER_STREAM, RPC_BIDI };

struct rpc_method {
    const char *path; /* "/tavola.v1.EntityService/GetEntity"; static */
    enum rpc_kind kind;
    const void *handler; /* the service's own; see rpc_call_method */
    /* It needs no credential: its calls are bounded in number, and its requests to RPC_OPEN_RECEIVE_BYTES. */
    bool is_open;
};

enum { RPC_OPEN_RECEIVE_BYTES = 4096 };

struct rpc_events {
    /* A call has arrived; set its state with rpc_call_set_state, and finish it or read. NULL: all are read. */
    void (*begin)(struct rpc_call *call);
    /* A message, borrowed until rpc_call_reply or rpc_call_finish (unary), until the call ends (server stream), or until the
     * next rpc_call_read. */
    void (*message)(struct rpc_call *call, struct str message);
    /*
     * A compressed message has come. true: inflate it, and tell with `inflated`, before `message`, how many bytes it has
     * become, or had become when inflating failed. false: the handler has finished the call. Both NULL: all are inflated.
     */
    bool (*may_inflate)(struct rpc_call *call);
    void (*inflated)(struct rpc_call *call, size_t bytes);
    /* No more messages will come (client stream, bidi). */
    void (*half_closed)(struct rpc_call *call);
    /* The message given to rpc_call_send has left: the next may be sent. This is flow control. */
    void (*sent)(struct rpc_call *call);
    /* The peer went away or the deadline passed. May be NULL when no method is a stream. */
    void (*cancelled)(struct rpc_call *call);
    /* The last event; release what the state holds. The arena goes by itself. May be NULL. */
    void (*ended)(struct rpc_call *call);
    /* A queue thread has delivered messages and drained everything that had arrived: a good moment to run a
     * batch. May be NULL. */
    void (*drained)(void *context);
};

/* What callers may take of a server. 0: not bounded. */
struct rpc_limits {
    int connections; /* in all; the oldest that no admitted call has been made on makes room for a new one */
    int connections_per_address; /* for IPv6: per 64 bits of it; not on Unix sockets */
    int64_t first_call_ms;       /* so soon after it was opened a connection must have had a call answered */
    int streams;                 /* open at once on a connection; callers wait */
    int open_calls;              /* of methods that need no credential, in all */
    int open_calls_per_connection;
};

/* Why connections are refused or hung up on: 1 to RPC_REASONS - 1. */
enum { RPC_REASONS = 14 };

struct rpc_connections {
    int open, authenticated;
    uint64_t reasons[RPC_REASONS]; /* refused and hung up on since the start */
    uint64_t open_calls_refused;
};

struct rpc_options {
    const char *listen;   /* "127.0.0.1:50051", "[::1]:0", "unix:/path" */
    int threads;          /* queue threads, 1..64 */
    size_t receive_bytes; /* of a message, before and after it is inflated */
    struct rpc_limits limits;
    const struct rpc_server_tls *tls; /* NULL: plain text */
    const struct rpc_method *methods; /* must outlive the server */
    size_t method_count;
    struct rpc_events events;
    void *context; /* given to `drained`, and by rpc_call_context */
};

/*
 * Bind and start. STATUS_UNAVAILABLE: the address is in use or not ours; the message names it.
 * STATUS_INVALID: the files of tls cannot be used.
 */
MUST_USE enum status rpc_server_start(
    const struct rpc_options *options, struct rpc_server **out, struct error *err);

/* The port that was bound (of use with port 0); 0 for a Unix socket. */
int rpc_server_port(const struct rpc_server *server);

/*
 * Stop: let open calls finish for at most grace_ms, then cancel the rest, hang up (GOAWAY), join the threads and free
 * the server. For a moment, or until no call is open, new calls still begin, for the owner to refuse; what comes then
 * has not been looked at. If calls stay open, clients get GOAWAY ahead, and what crosses it on its way ends as
 * CANCELLED: the core leaves no choice. Blocks; without open calls for a fraction of a second only.
 */
void rpc_server_stop(struct rpc_server *server, int64_t grace_ms);

/* Calls that have begun, before the server was stopped, and not ended. */
int rpc_server_open_calls(const struct rpc_server *server);

/* Connections now, and what has become of others. */
void rpc_server_read_connections(struct rpc_server *server, struct rpc_connections *out);

/* "full", "resets", ...: a word for a log or a label. reason: 1 to RPC_REASONS - 1. */
const char *rpc_server_reason_name(int reason);

/* Whether connections are refused for this reason, rather than hung up on. */
bool rpc_server_reason_refuses(int reason);

/*
 * Memory is short: hang up on the connection that costs most, of those on which no call has been admitted; with `all`,
 * if there are none of these, of all. false: there is none.
 */
bool rpc_server_shed(struct rpc_server *server, bool all);

/* To be called about once a second: what connections have sent before counts less for rpc_server_shed. */
void rpc_server_age(struct rpc_server *server);

/* ---- a call ---- */

const struct rpc_method *rpc_call_method(const struct rpc_call *call);
void *rpc_call_context(const struct rpc_call *call);
void *rpc_call_state(const struct rpc_call *call);
void rpc_call_set_state(struct rpc_call *call, void *state);
int64_t rpc_call_deadline_us(const struct rpc_call *call); /* clock_monotonic_us; INT64_MAX: none */
int64_t rpc_call_begun_us(const struct rpc_call *call);    /* clock_monotonic_us */
int rpc_call_code(const struct rpc_call *call);            /* in `ended`: the status code it ended with */
bool rpc_call_is_cancelled(const struct rpc_call *call);
struct str rpc_call_peer(struct rpc_call *call);

/*
 * What it holds when the state is set lives until `ended` has returned; what comes later only until rpc_call_reply,
 * if the call ends with that: replies may wait long for their peers.
 */
struct arena *rpc_call_arena(struct rpc_call *call);

/* The first value of a metadata key (lower case); empty when it was not sent. */
struct str rpc_call_metadata(struct rpc_call *call, const char *key);

/*
 * The caller has been authenticated and admitted, so the connection counts as authenticated. Call it once per call,
 * from `begin` or before the call is finished.
 */
void rpc_call_authenticated(struct rpc_call *call);

/*
 * Ask for the next message, or, of unary and server-stream calls, for the only one; answered by `message`,
 * `half_closed` (client stream, bidi) or `cancelled`.
 */
void rpc_call_read(struct rpc_call *call);

/* Send one message of a stream; the bytes are copied. One at a time: wait for `sent` or `cancelled`. */
void rpc_call_send(struct rpc_call *call, struct str message);

/* A unary reply, or the last message of a client-stream method, with status OK. The bytes are copied. */
void rpc_call_reply(struct rpc_call *call, struct str message);

/*
 * End the call. code is a gRPC status code (0..16); message is UTF-8; details is the serialized
 * google.rpc.Status for grpc-status-details-bin, empty: none. A message being sent goes first. Outside
 * the call's own events the call may be gone when this, or rpc_call_reply, returns.
 */
void rpc_call_finish(struct rpc_call *call, int code, struct str message, struct str details);

#endif
