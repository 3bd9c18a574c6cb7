/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - blocking calls. Every call has a queue of its own, starts a batch and plucks it from the queue.
 * The batch LIFE lasts as long as the call: it has the metadata of both sides and the status.
 */
#include "rpc/channel.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/time.h>
#include <stdlib.h>
#include <string.h>

#include "base/local_address.h"
#include "base/macros.h"
#include "rpc/bytes.h"
#include "rpc/channel_parts.h"

enum { KEEPALIVE_TIME_MS = 30000, KEEPALIVE_TIMEOUT_MS = 10000 };

static gpr_timespec deadline_in(int64_t timeout_ms)
{
    if (timeout_ms <= 0)
        return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(timeout_ms, GPR_TIMESPAN));
}

static grpc_arg integer_arg(const char *key, int value)
{
    return (grpc_arg){ .type = GRPC_ARG_INTEGER, .key = (char *)(size_t)key, .value.integer = value };
}

static grpc_channel *core_open(
    const struct rpc_channel_options *options, grpc_channel_credentials *credentials)
{
    grpc_arg args[] = {
        integer_arg(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
        integer_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1),
        /* The core does not retry calls: the caller decides about that. */
        integer_arg(GRPC_ARG_ENABLE_RETRIES, 0),
        /* Two channels never share a connection. */
        integer_arg(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
        /*
         * Detect a dead connection while a call is open. The server accepts pings that are more frequent than
         * these.
         */
        integer_arg(GRPC_ARG_KEEPALIVE_TIME_MS,
            options->keepalive_ms > 0 ? options->keepalive_ms : KEEPALIVE_TIME_MS),
        integer_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KEEPALIVE_TIMEOUT_MS),
        integer_arg(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0),
    };
    grpc_channel_args channel_args = { .num_args = ARRAY_LEN(args), .args = args };

    return grpc_channel_create(options->target, credentials, &channel_args);
}

static grpc_slice authorization_of(const char *token)
{
    static const char kind[] = "Bearer ";
    grpc_slice slice;

    if (!token)
        return grpc_empty_slice();
    slice = grpc_slice_malloc(strlen(kind) + strlen(token));
    memcpy(GRPC_SLICE_START_PTR(slice), kind, strlen(kind));
    memcpy(GRPC_SLICE_START_PTR(slice) + strlen(kind), token, strlen(token));
    return slice;
}

static struct rpc_channel *channel_new(
    const struct rpc_channel_options *options, grpc_channel_credentials *credentials)
{
    struct rpc_channel *channel = xcalloc(1, sizeof(*channel));

    pthread_mutex_init(&channel->lock, NULL);
    channel->core = core_open(options, credentials);
    channel->authorization = authorization_of(options->token);
    channel->is_private = options->tls || local_address_is(options->target);
    return channel;
}

enum status rpc_channel_open(
    const struct rpc_channel_options *options, struct rpc_channel **out, struct error *err)
{
    grpc_channel_credentials *credentials = NULL;
    enum status status = STATUS_OK;

    if (!options->target || !*options->target)
        return error_set(
            err, STATUS_INVALID, "the target of the channel is empty: set host:port or unix:/path");
    if (options->token && !options->tls && !local_address_is(options->target))
        return error_set(
            err, STATUS_INVALID, "a token is not sent to %s in plain text: use TLS", options->target);
    grpc_init();
    if (options->tls)
        status = tls_channel_credentials(options->tls, &credentials, err);
    else
        credentials = grpc_insecure_credentials_create();
    if (status == STATUS_OK) {
        *out = channel_new(options, credentials);
        grpc_channel_credentials_release(credentials);
    } else {
        grpc_shutdown();
    }
    return status;
}

bool rpc_channel_is_private(const struct rpc_channel *channel)
{
    return channel->is_private;
}

void rpc_channel_set_token(struct rpc_channel *channel, const char *token)
{
    grpc_slice before, after = authorization_of(token);

    pthread_mutex_lock(&channel->lock);
    before = channel->authorization;
    channel->authorization = after;
    pthread_mutex_unlock(&channel->lock);
    grpc_slice_unref(before);
}

static grpc_slice authorization_now(struct rpc_channel *channel)
{
    grpc_slice slice;

    pthread_mutex_lock(&channel->lock);
    slice = grpc_slice_ref(channel->authorization);
    pthread_mutex_unlock(&channel->lock);
    return slice;
}

void rpc_channel_close(struct rpc_channel *channel)
{
    if (!channel)
        return;
    grpc_channel_destroy(channel->core);
    grpc_slice_unref(channel->authorization);
    pthread_mutex_destroy(&channel->lock);
    free(channel);
    grpc_shutdown();
}

/* ---- a call ---- */

void channel_call_init(struct rpc_stream *stream, struct rpc_channel *channel, const char *path,
    int64_t timeout_ms, grpc_completion_queue *queue)
{
    grpc_slice method = grpc_slice_from_copied_string(path), authorization = authorization_now(channel);

    *stream = (struct rpc_stream){ .queue = queue,
        .message = grpc_empty_slice(),
        .authorization = { .key = grpc_slice_from_static_string("authorization"), .value = authorization },
        .metadata_count = GRPC_SLICE_LENGTH(authorization) > 0 };
    grpc_metadata_array_init(&stream->headers);
    grpc_metadata_array_init(&stream->trailers);
    stream->core = grpc_channel_create_call(channel->core, NULL, GRPC_PROPAGATE_DEFAULTS, stream->queue,
        method, NULL, deadline_in(timeout_ms), NULL);
    grpc_slice_unref(method);
}

void channel_call_cleanup(struct rpc_stream *stream)
{
    grpc_slice_unref(stream->message);
    grpc_slice_unref(stream->authorization.value);
    grpc_metadata_array_destroy(&stream->headers);
    grpc_metadata_array_destroy(&stream->trailers);
    grpc_call_unref(stream->core);
}

static void stream_init(
    struct rpc_stream *stream, struct rpc_channel *channel, const char *path, int64_t timeout_ms)
{
    channel_call_init(stream, channel, path, timeout_ms, grpc_completion_queue_create_for_pluck(NULL));
}

static void stream_cleanup(struct rpc_stream *stream)
{
    channel_call_cleanup(stream);
    grpc_completion_queue_shutdown(stream->queue);
    grpc_completion_queue_destroy(stream->queue);
}

/* The operations of LIFE. The tag of LIFE is the address of the stream. */
static size_t life_ops(struct rpc_stream *stream, grpc_op ops[static 3])
{
    ops[0] = (grpc_op){ .op = GRPC_OP_SEND_INITIAL_METADATA,
        .data.send_initial_metadata = {
            .count = stream->metadata_count, .metadata = &stream->authorization } };
    ops[1] = (grpc_op){ .op = GRPC_OP_RECV_INITIAL_METADATA,
        .data.recv_initial_metadata.recv_initial_metadata = &stream->headers };
    ops[2] = (grpc_op){ .op = GRPC_OP_RECV_STATUS_ON_CLIENT };
    ops[2].data.recv_status_on_client.trailing_metadata = &stream->trailers;
    ops[2].data.recv_status_on_client.status = &stream->code;
    ops[2].data.recv_status_on_client.status_details = &stream->message;
    return 3;
}

static bool start(struct rpc_stream *stream, const grpc_op *ops, size_t count, void *tag)
{
    return grpc_call_start_batch(stream->core, ops, count, tag, NULL) == GRPC_CALL_OK;
}

/* Start a whole unary call as one batch. The message is copied. */
bool channel_call_start(struct rpc_stream *stream, struct str message, struct bytes *received, void *tag)
{
    grpc_byte_buffer *sent = bytes_copy(message);
    grpc_op ops[6];
    size_t count = life_ops(stream, ops);
    bool started;

    ops[count++] = (grpc_op){ .op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = sent };
    ops[count++] = (grpc_op){ .op = GRPC_OP_SEND_CLOSE_FROM_CLIENT };
    ops[count++] =
        (grpc_op){ .op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &received->buffer };
    started = start(stream, ops, count, tag);
    grpc_byte_buffer_destroy(sent);
    return started;
}

static bool await(struct rpc_stream *stream, void *tag)
{
    grpc_event event =
        grpc_completion_queue_pluck(stream->queue, tag, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

    return event.success != 0;
}

/* Start one operation and wait for it. The stream must not have ended. */
static bool run(struct rpc_stream *stream, grpc_op op)
{
    void *tag = &stream->has_ended;

    return start(stream, &op, 1, tag) && await(stream, tag);
}

static void copy_status(struct rpc_stream *stream, struct arena *arena, struct rpc_status *status)
{
    struct str details = bytes_metadata(&stream->trailers, STR_LITERAL("grpc-status-details-bin"));

    *status = (struct rpc_status){ .code = (int)stream->code,
        .message = arena_copy(arena, bytes_of_slice(&stream->message)),
        .details = arena_copy(arena, details) };
}

void channel_call_result(struct rpc_stream *stream, struct bytes *received, struct arena *arena,
    struct str *reply, struct rpc_status *status)
{
    copy_status(stream, arena, status);
    if (status->code == GRPC_STATUS_OK && received->buffer)
        *reply = arena_copy(arena, bytes_view(received));
    else if (status->code == GRPC_STATUS_OK)
        *status = (struct rpc_status){ .code = GRPC_STATUS_INTERNAL,
            .message = STR_LITERAL("the server sent status OK without a reply") };
}

void rpc_channel_call(struct rpc_channel *channel, const struct rpc_request *request, struct arena *arena,
    struct str *reply, struct rpc_status *status)
{
    struct rpc_stream call;
    struct bytes received = { 0 };

    stream_init(&call, channel, request->path, request->timeout_ms);
    *reply = STR_EMPTY;
    if (channel_call_start(&call, request->message, &received, &call)) {
        await(&call, &call);
        channel_call_result(&call, &received, arena, reply, status);
    } else {
        *status = (struct rpc_status){ .code = GRPC_STATUS_INTERNAL,
            .message = STR_LITERAL("the call could not be started") };
    }
    bytes_release(&received);
    stream_cleanup(&call);
}

/* ---- streams ---- */

enum status rpc_stream_open(struct rpc_channel *channel, const char *path, int64_t timeout_ms,
    struct rpc_stream **out, struct error *err)
{
    struct rpc_stream *stream = xcalloc(1, sizeof(*stream));
    grpc_op ops[3];
    size_t count;

    stream_init(stream, channel, path, timeout_ms);
    count = life_ops(stream, ops);
    if (!start(stream, ops, count, stream)) {
        stream_cleanup(stream);
        free(stream);
        return error_set(err, STATUS_INTERNAL, "%s could not be started", path);
    }
    *out = stream;
    return STATUS_OK;
}

bool rpc_stream_send(struct rpc_stream *stream, struct str message)
{
    grpc_byte_buffer *buffer;
    grpc_op op = { .op = GRPC_OP_SEND_MESSAGE };
    bool sent;

    if (stream->has_ended)
        return false;
    buffer = bytes_copy(message);
    op.data.send_message.send_message = buffer;
    sent = run(stream, op);
    grpc_byte_buffer_destroy(buffer);
    stream->has_ended = !sent;
    return sent;
}

void rpc_stream_half_close(struct rpc_stream *stream)
{
    if (!stream->has_ended)
        stream->has_ended = !run(stream, (grpc_op){ .op = GRPC_OP_SEND_CLOSE_FROM_CLIENT });
}

bool rpc_stream_receive(struct rpc_stream *stream, struct arena *arena, struct str *message)
{
    struct bytes received = { 0 };
    bool is_message;

    /* Try to read even after a failed send: the server may have sent messages before it ended the stream. */
    is_message = run(
        stream, (grpc_op){ .op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &received.buffer });
    is_message = is_message && received.buffer;
    if (is_message)
        *message = arena_copy(arena, bytes_view(&received));
    else
        stream->has_ended = true;
    bytes_release(&received);
    return is_message;
}

void rpc_stream_cancel(struct rpc_stream *stream)
{
    grpc_call_cancel(stream->core, NULL);
}

void rpc_stream_finish(struct rpc_stream *stream, struct arena *arena, struct rpc_status *status)
{
    if (!stream->has_ended)
        grpc_call_cancel(stream->core, NULL);
    await(stream, stream);
    copy_status(stream, arena, status);
    stream_cleanup(stream);
    free(stream);
}
