/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_parts.h - a channel and its calls, for channel.c, whose calls block, and async.c, whose calls do
 * not. Other files must not include it.
 */
#ifndef RPC_CHANNEL_PARTS_H
#define RPC_CHANNEL_PARTS_H

#include <grpc/grpc.h>
#include <pthread.h>

#include "rpc/bytes.h"
#include "rpc/channel.h"

struct rpc_channel {
    grpc_channel *core;
    bool is_private;          /* a token may be sent: see rpc_channel_is_private */
    pthread_mutex_t lock;     /* guards the members below */
    grpc_slice authorization; /* the value of the metadata `authorization`, or empty */
};

/* A unary call or a stream. The addresses of its members serve as tags. */
struct rpc_stream {
    grpc_completion_queue *queue;
    grpc_call *core;
    bool has_ended; /* the status has arrived, or no further message can be sent */
    grpc_metadata authorization;
    size_t metadata_count;
    grpc_metadata_array headers;
    grpc_metadata_array trailers;
    grpc_status_code code;
    grpc_slice message;
};

/* Prepare a call whose batches complete on `queue`. The caller still owns the queue. */
void channel_call_init(struct rpc_stream *stream, struct rpc_channel *channel, const char *path,
    int64_t timeout_ms, grpc_completion_queue *queue);
void channel_call_cleanup(struct rpc_stream *stream);

/*
 * Start a unary call as one batch. *received must stay valid until the batch completes. false: the batch
 * could not be started.
 */
bool channel_call_start(struct rpc_stream *stream, struct str message, struct bytes *received, void *tag);

/* After the batch has completed: its reply and status, allocated in the arena. */
void channel_call_result(struct rpc_stream *stream, struct bytes *received, struct arena *arena,
    struct str *reply, struct rpc_status *status);

#endif
