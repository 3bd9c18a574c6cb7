/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - the client side: a channel to one server, unary calls and streams on it. Calls block, but for those of
 * rpc/async.h. A channel may be used by several threads, a stream by one at a time.
 */
#ifndef RPC_CHANNEL_H
#define RPC_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "rpc/tls.h"

struct rpc_channel;
struct rpc_stream;

/* The end of a call. */
struct rpc_status {
    int code;           /* gRPC status code, 0: OK */
    struct str message; /* in the arena of the call */
    struct str details; /* grpc-status-details-bin, or empty */
};

struct rpc_channel_options {
    const char *target;               /* "127.0.0.1:50051" or "unix:/path" */
    const struct rpc_client_tls *tls; /* NULL: plain text */
    const char *token;                /* a bearer token that goes with every call, or NULL */
    int keepalive_ms; /* the time between pings while a call is open; 0: 30 seconds. The server allows 10 seconds */
};

/*
 * Proxies from the environment are not used.
 *
 * STATUS_INVALID  no target; a file of tls cannot be used; a token for anything but TLS, loopback or a Unix socket
 */
MUST_USE enum status rpc_channel_open(
    const struct rpc_channel_options *options, struct rpc_channel **out, struct error *err);
void rpc_channel_close(struct rpc_channel *channel);

/* Whether a token may be sent: over TLS, to loopback and to Unix sockets. */
bool rpc_channel_is_private(const struct rpc_channel *channel);

/* Calls that begin later send this token; NULL: none. Any thread. The channel must be private. */
void rpc_channel_set_token(struct rpc_channel *channel, const char *token);

struct rpc_request {
    const char *path;
    struct str message;
    int64_t timeout_ms; /* 0: none */
};

/*
 * A unary call. The reply and the status are in the arena. Always fills *status; the reply is empty unless
 * status->code is 0.
 */
void rpc_channel_call(struct rpc_channel *channel, const struct rpc_request *request, struct arena *arena,
    struct str *reply, struct rpc_status *status);

/* Streams of any kind. */
MUST_USE enum status rpc_stream_open(struct rpc_channel *channel, const char *path, int64_t timeout_ms,
    struct rpc_stream **out, struct error *err);
bool rpc_stream_send(struct rpc_stream *stream, struct str message); /* false: the stream has ended */
void rpc_stream_half_close(struct rpc_stream *stream);
bool rpc_stream_receive(
    struct rpc_stream *stream, struct arena *arena, struct str *message); /* false: ended */
/* From any thread: end the stream; what waits in it returns, and its status is CANCELLED unless it had ended. */
void rpc_stream_cancel(struct rpc_stream *stream);
/* The status after the stream has ended (cancels it if it has not), then frees it. */
void rpc_stream_finish(struct rpc_stream *stream, struct arena *arena, struct rpc_status *status);

#endif
