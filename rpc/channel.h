/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - the client side: a channel to one server, with unary calls and streams on it. All calls block,
 * except those of rpc/async.h. Several threads may use a channel; only one thread at a time may use a stream.
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

/* How a call has ended. */
struct rpc_status {
    int code;           /* gRPC status code; 0: OK */
    struct str message; /* allocated in the arena of the call */
    struct str details; /* grpc-status-details-bin, or empty */
};

struct rpc_channel_options {
    const char *target;               /* "127.0.0.1:50051" or "unix:/path" */
    const struct rpc_client_tls *tls; /* NULL: plain text */
    const char *token;                /* a bearer token that is sent with every call; NULL: none */
    /*
     * the time between pings while a call is open; 0: 30 seconds. The server accepts a ping every 10 seconds
     */
    int keepalive_ms;
};

/*
 * Open a channel. Proxies from the environment are not used.
 *
 * STATUS_INVALID  there is no target; a file of tls cannot be used; or there is a token, and the connection is
 *                 neither TLS, loopback nor a Unix socket
 */
MUST_USE enum status rpc_channel_open(
    const struct rpc_channel_options *options, struct rpc_channel **out, struct error *err);
void rpc_channel_close(struct rpc_channel *channel);

/* Whether a token may be sent on this channel: it uses TLS, loopback or a Unix socket. */
bool rpc_channel_is_private(const struct rpc_channel *channel);

/*
 * Set the token of all calls that begin later; NULL: none. May be called from any thread. The channel must be
 * private.
 */
void rpc_channel_set_token(struct rpc_channel *channel, const char *token);

struct rpc_request {
    const char *path;
    struct str message;
    int64_t timeout_ms; /* 0: no deadline */
};

/*
 * Do a unary call. The reply and the status are allocated in the arena. *status is always filled; the reply
 * is empty unless status->code is 0.
 */
void rpc_channel_call(struct rpc_channel *channel, const struct rpc_request *request, struct arena *arena,
    struct str *reply, struct rpc_status *status);

/* Open a stream of any kind. */
MUST_USE enum status rpc_stream_open(struct rpc_channel *channel, const char *path, int64_t timeout_ms,
    struct rpc_stream **out, struct error *err);
bool rpc_stream_send(struct rpc_stream *stream, struct str message); /* false: the stream has ended */
void rpc_stream_half_close(struct rpc_stream *stream);
bool rpc_stream_receive(
    struct rpc_stream *stream, struct arena *arena, struct str *message); /* false: the stream has ended */
/*
 * End the stream, from any thread. A blocked send or receive returns. The status is CANCELLED unless the
 * stream had already ended.
 */
void rpc_stream_cancel(struct rpc_stream *stream);
/* Cancel the stream if it has not ended, return its status, and free it. */
void rpc_stream_finish(struct rpc_stream *stream, struct arena *arena, struct rpc_status *status);

#endif
