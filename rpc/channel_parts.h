/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_parts.h - a channel and its calls, for channel.c, whose calls block, and async.c, whose calls do not. Other files
 * must not include it.
 */
#ifndef RPC_CHANNEL_PARTS_H
#define RPC_CHANNEL_PARTS_H

#include <grpc/grpc.h>
#include <pthread.h>

#include "rpc/bytes.h"
#include "rpc/channel.h"

struct rpc_channel {
    grpc_channel *core;
    bool is_private;          /* a token may be sent */
    pthread_mutex_t lock;     /* guards what follows */
    grpc_slice authorization; /* the metadata's value, or empty */
};

/* Both a unary call and a stream. The addresses of its members serve as tags. */
struct rpc_stream {
    grpc_completion_queue *queue;
    grpc_call *core;
    bool has_ended; /* the status is there, or on its way */
    grpc_metadata authorization;
    size_t metadata_count;
    grpc_metadata_array headers;
    grpc_metadata_array trailers;
    grpc_status_code code;
    grpc_slice message;
};

/* A call whose batches complete on that queue, which stays the caller's. */
void channel_call_init(struct rpc_stream *stream, struct rpc_channel *channel, const char *path,
    int64_t timeout_ms, grpc_completion_queue *queue);
void channel_call_cleanup(struct rpc_stream *stream);

/* Start a unary call as one batch. received must stay where it is until the batch completes. false: not started. */
bool channel_call_start(struct rpc_stream *stream, struct str message, struct bytes *received, void *tag);

/* After that batch: its reply and status, in the arena. */
void channel_call_result(struct rpc_stream *stream, struct bytes *received, struct arena *arena,
    struct str *reply, struct rpc_status *status);

#endif
