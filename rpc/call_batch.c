/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_batch.c - starts batches of the core; no other file does.
 *
 * A call has at most one batch of each kind in flight. Each kind has a tag inside the call; the tag's address
 * is the batch's tag.
 */
#include <assert.h>

#include "rpc/call_parts.h"

static void start(grpc_call *core, const grpc_op *ops, size_t count, void *tag)
{
    grpc_call_error refused = grpc_call_start_batch(core, ops, count, tag, NULL);

    assert(refused == GRPC_CALL_OK);
    (void)refused;
}

void *call_fly(struct core_call *call, enum call_batch batch)
{
    assert(!(call->in_flight & (1U << batch)));
    call->in_flight |= 1U << batch;
    return &call->tags[batch];
}

/* If the caller asks for gzip and its library accepts gzip, the reply is compressed. */
static grpc_op initial_metadata_op(const struct core_call *call)
{
    grpc_op op = { .op = GRPC_OP_SEND_INITIAL_METADATA };
    struct str asked = bytes_metadata(&call->metadata, STR_LITERAL("accept-encoding"));

    if (str_equal(asked, STR_LITERAL("gzip"))) {
        op.data.send_initial_metadata.maybe_compression_level.is_set = 1;
        op.data.send_initial_metadata.maybe_compression_level.level = GRPC_COMPRESS_LEVEL_LOW;
    }
    return op;
}

static grpc_op close_op(struct core_call *call)
{
    return (grpc_op){ .op = GRPC_OP_RECV_CLOSE_ON_SERVER,
        .data.recv_close_on_server.cancelled = &call->close_cancelled };
}

static grpc_op message_op(grpc_byte_buffer *buffer)
{
    return (grpc_op){ .op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = buffer };
}

void call_start_finish(struct core_call *call, grpc_byte_buffer *buffer)
{
    grpc_call *core = call->core;
    void *tag = call_fly(call, BATCH_FINISH);
    grpc_slice message = call->status_message;
    grpc_metadata details = { .key = grpc_slice_from_static_string("grpc-status-details-bin"),
        .value = call->details };
    grpc_op ops[4] = { 0 };
    size_t count = 0;

    if (!call->close_started)
        ops[count++] = close_op(call);
    if (!call->metadata_sent)
        ops[count++] = initial_metadata_op(call);
    if (buffer)
        ops[count++] = message_op(buffer);
    ops[count].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
    ops[count].data.send_status_from_server.status = (grpc_status_code)call->base.code;
    ops[count].data.send_status_from_server.status_details = GRPC_SLICE_LENGTH(message) ? &message : NULL;
    if (GRPC_SLICE_LENGTH(call->details) > 0) {
        ops[count].data.send_status_from_server.trailing_metadata_count = 1;
        ops[count].data.send_status_from_server.trailing_metadata = &details;
    }
    count++;
    call->close_started = true;
    call->metadata_sent = true;
    call->status_held = false;
    pthread_mutex_unlock(&call->lock);

    start(core, ops, count, tag);
}

void call_start_close(struct core_call *call)
{
    void *tag = call_fly(call, BATCH_CLOSE);
    grpc_op op = close_op(call);

    call->close_started = true;
    pthread_mutex_unlock(&call->lock);

    start(call->core, &op, 1, tag);
}

void call_start_read(struct core_call *call, void *tag)
{
    grpc_op op = { .op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->message.buffer };

    start(call->core, &op, 1, tag);
}

void call_start_send(struct core_call *call, struct str message, bool with_metadata, void *tag)
{
    grpc_byte_buffer *buffer = bytes_copy(message);
    grpc_op ops[2];
    size_t count = 0;

    if (with_metadata)
        ops[count++] = initial_metadata_op(call);
    ops[count++] = message_op(buffer);
    start(call->core, ops, count, tag);
    grpc_byte_buffer_destroy(buffer);
}

void call_start_post(struct core_call *call, void *tag)
{
    start(call->core, NULL, 0, tag);
}
