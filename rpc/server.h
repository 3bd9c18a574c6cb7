/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - the completion-queue server: one call machine for all four kinds of method.
 *
 * The server knows neither tables nor messages: requests and replies are bytes. Methods are given as a table.
 * A generic call stays armed, so that a call of an unknown method gets UNIMPLEMENTED at once.
 *
 * Threads: the server's queue threads deliver the events. The functions on a call may be used from any
 * thread, but by one thread at a time per call. No event handler may block.
 *
 * Life of a call:
 *
 *   begin ---> message* ---> half_closed (client streams) ---> ... ---> rpc_call_finish ---> ended
 *
 * In `begin` the handler has the metadata and nothing else. The request stays in the connection, bounded by
 * the window of its flow control, until the handler asks for it with rpc_call_read. So a caller without
 * permission is refused before the request is read. Unary and server-stream methods ask once and get one
 * message. Client-stream and bidi methods ask for each message; half_closed says that no more will come.
 * `ended` is always the last event, after which the call is gone; `cancelled` comes at most once before it,
 * when the peer went away or the deadline passed: the handler must still call rpc_call_finish (which then
 * sends nothing). After that no further event message, half_closed or sent comes, even if one was requested.
 * The events of one call never overlap. If a unary call carries no message, or one that cannot be read, the
 * server answers it with an error: after `begin` comes `ended`.
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
    const void *handler; /* the service's own value; returned by rpc_call_method */
    /*
     * The method needs no credential. So the number of its calls is bounded, and its requests to
     * RPC_OPEN_RECEIVE_BYTES.
     */
    bool is_open;
    bool writes; /* its calls are answered after a commit */
};

enum { RPC_OPEN_RECEIVE_BYTES = 4096 };

struct rpc_events {
    /*
     * A call has arrived. Set its state with rpc_call_set_state; then finish the call, or read. NULL: every
     * call is read.
     */
    void (*begin)(struct rpc_call *call);
    /*
     * A message, borrowed until rpc_call_reply or rpc_call_finish (unary), until the call ends (server
     * stream), or until the next rpc_call_read.
     */
    void (*message)(struct rpc_call *call, struct str message);
    /*
     * A compressed message has arrived. true: inflate it; before `message`, `inflated` gets the number of
     * inflated bytes, even if inflating failed. false: the handler has finished the call. Both NULL: every
     * message is inflated.
     */
    bool (*may_inflate)(struct rpc_call *call);
    void (*inflated)(struct rpc_call *call, size_t bytes);
    /* The client will send no more messages (client stream, bidi). */
    void (*half_closed)(struct rpc_call *call);
    /*
     * The message of rpc_call_send has left, so the next one may be sent. This is the flow control of a
     * stream.
     */
    void (*sent)(struct rpc_call *call);
    /* The client went away, or the deadline passed. May be NULL if no method is a stream. */
    void (*cancelled)(struct rpc_call *call);
    /* The last event: release what the state holds. The arena is freed without it. May be NULL. */
    void (*ended)(struct rpc_call *call);
    /*
     * A queue thread has delivered many messages and delivers more: other threads may begin a batch. Called again and
     * again meanwhile, but not in an overload; it must not wait for anything. May be NULL.
     */
    void (*draining)(void *context);
    /*
     * A queue thread has delivered messages and drained all events that had arrived: the right moment to run
     * a batch. May be NULL.
     */
    void (*drained)(void *context);
};

/* Bounds of what callers may use. 0: not bounded. */
/*
 * Calls that a connection may have open, where rpc_limits does not say otherwise. A caller may begin with so many, so
 * an unauthenticated connection may have them too.
 */
enum { RPC_STREAMS = 1024 };

struct rpc_limits {
    /* in all; a new connection takes the place of the oldest one on which no call was admitted */
    int connections;
    int connections_per_address; /* an IPv6 address counts by its first 64 bits; Unix sockets do not count */
    /* a connection must have a call answered within so long after it was opened */
    int64_t first_call_ms;
    int streams;    /* open at the same time on a connection; further calls wait at the caller */
    int open_calls; /* of methods that need no credential, on all connections */
    int open_calls_per_connection;
};

/* The number of reasons to refuse or hang up on a connection: 1 to RPC_REASONS - 1. 0 means none. */
enum { RPC_REASONS = 14 };

struct rpc_connections {
    int open, authenticated;
    uint64_t reasons[RPC_REASONS]; /* connections refused and hung up on since the start, by reason */
    uint64_t open_calls_refused;
    uint64_t helped; /* how often the helper of the queue threads has begun to serve */
};

struct rpc_options {
    const char *listen;   /* "127.0.0.1:50051", "[::1]:0", "unix:/path" */
    int threads;          /* queue threads, 1..64 */
    bool helps;           /* one more serves while these are busy; see rpc/help_pace.h */
    size_t receive_bytes; /* bound of a message, before and after inflating */
    struct rpc_limits limits;
    const struct rpc_server_tls *tls; /* NULL: plain text */
    const struct rpc_method *methods; /* must outlive the server */
    size_t method_count;
    struct rpc_events events;
    void *context; /* passed to `drained`, returned by rpc_call_context */
};

/*
 * Bind and start.
 *
 * STATUS_UNAVAILABLE  the address is in use or does not belong to this machine; the message names it
 * STATUS_INVALID      the files of tls cannot be used
 */
MUST_USE enum status rpc_server_start(
    const struct rpc_options *options, struct rpc_server **out, struct error *err);

/* The port that was bound, which matters with port 0; 0 for a Unix socket. */
int rpc_server_port(const struct rpc_server *server);

/*
 * Stop the server: let open calls finish for at most grace_ms, cancel the remaining calls, send GOAWAY, close
 * the connections, join the threads and free the server.
 *
 * For a short time, or until no call is open, new calls still begin, so that the owner can refuse them. A
 * call that arrives later is not read, and the client may send it to another server. If calls stay open,
 * clients get GOAWAY while the connection is in use; a call that crosses the GOAWAY ends as CANCELLED, which
 * gRPC's core does not let us change. Blocks; if no call is open and clients hang up when the server does, only
 * for a fraction of a second, otherwise up to two seconds longer.
 */
void rpc_server_stop(struct rpc_server *server, int64_t grace_ms);

/* Calls that began before the server was stopped and have not ended. */
int rpc_server_open_calls(const struct rpc_server *server);

/* The number of connections now, and of those refused and hung up on. */
void rpc_server_read_connections(struct rpc_server *server, struct rpc_connections *out);

/* The word of a reason for logs and labels: "full", "resets", ... reason: 1 to RPC_REASONS - 1. */
const char *rpc_server_reason_name(int reason);

/* true: connections are refused for this reason; false: they are hung up on. */
bool rpc_server_reason_refuses(int reason);

/*
 * Memory is short: hang up on the connection with the highest cost among those on which no call has been
 * admitted or, with `all` and if there are none of these, among all. false: there is no connection to hang up
 * on.
 */
bool rpc_server_shed(struct rpc_server *server, bool all);

/*
 * Call it about once a second: bytes that a connection has sent before then count less for rpc_server_shed.
 */
void rpc_server_age(struct rpc_server *server);

/* ---- a call ---- */

const struct rpc_method *rpc_call_method(const struct rpc_call *call);
void *rpc_call_context(const struct rpc_call *call);
void *rpc_call_state(const struct rpc_call *call);
void rpc_call_set_state(struct rpc_call *call, void *state);
int64_t rpc_call_deadline_us(const struct rpc_call *call); /* clock_monotonic_us; INT64_MAX: none */
int64_t rpc_call_begun_us(const struct rpc_call *call);    /* clock_monotonic_us */
/* in `ended`: the status code that the call ended with */
int rpc_call_code(const struct rpc_call *call);
bool rpc_call_is_cancelled(const struct rpc_call *call);
struct str rpc_call_peer(struct rpc_call *call);

/*
 * The arena of the call. Memory that is allocated before the state is set lives until `ended` has returned.
 * Later memory lives only until rpc_call_reply, if the call ends with that, because a reply may wait long for
 * its client.
 */
struct arena *rpc_call_arena(struct rpc_call *call);

/* The first value of a metadata key (lower case); empty if the caller has not sent it. */
struct str rpc_call_metadata(struct rpc_call *call, const char *key);

/*
 * The caller has been authenticated and admitted, so its connection counts as authenticated. Call it once per
 * call, from `begin` or before the call is finished.
 */
void rpc_call_authenticated(struct rpc_call *call);

/*
 * Ask for the next message; for a unary or server-stream call, for the only one. The answer is `message`,
 * `half_closed` (client stream, bidi) or `cancelled`.
 */
void rpc_call_read(struct rpc_call *call);

/*
 * Send one message of a stream; the bytes are copied. Send the next one after `sent`; none after `cancelled`.
 */
void rpc_call_send(struct rpc_call *call, struct str message);

/* Send a unary reply, or the last message of a client-stream method, with status OK. The bytes are copied. */
void rpc_call_reply(struct rpc_call *call, struct str message);

/*
 * End the call. If a message is being sent, it leaves first. Unless it is called from one of the call's own
 * events, the call may be freed when this function, or rpc_call_reply, returns.
 *
 * code     a gRPC status code (0..16)
 * message  UTF-8
 * details  the serialized google.rpc.Status for grpc-status-details-bin; empty: none
 */
void rpc_call_finish(struct rpc_call *call, int code, struct str message, struct str details);

#endif
