/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - see the header.
 *
 *                message: ask          done: tell           sent: ask
 *   READING --------------> RUNNING -----------> SENDING --------------> RUNNING, or READING the next request
 *                            |   ^
 *                            '---' done: nothing to tell, ask
 *
 *   UNKNOWN    from READING: the caller's account is not known here, see recheck.h; READING again, with the same request
 *
 *   FINISHED   from any of them: an error, the end; from READING: half_closed; cancelled: at once, but when
 *              RUNNING after `done`, when UNKNOWN after `resume`
 *
 * Events come from queue threads and `done` from one of the store, so every step runs under the lock; while RUNNING
 * only `done` may end the call. The lock is not held across store_submit, which may call `done` at once.
 */
#include "service/stream.h"

#include <assert.h>
#include <pthread.h>

#include "api/codec.h"
#include "api/codec_error.h"
#include "base/clock.h"
#include "domain/reason.h"

enum stream_state { STREAM_READING, STREAM_UNKNOWN, STREAM_RUNNING, STREAM_SENDING, STREAM_FINISHED };

struct stream {
    struct rpc_call *call;
    const struct method *method;
    struct call_ctx ctx;
    pthread_mutex_t lock;
    enum stream_state state;
    bool was_cancelled;
    struct str message;          /* the request at hand, until the next one is read */
    struct recheck_call recheck; /* UNKNOWN: the call goes on in `resume` */

    struct arena requests; /* of the request at hand, where there are several */
    struct arena arena;    /* of the operation at hand */
    struct operation operation;
};

enum status stream_admit(
    struct call_ctx *ctx, struct operation *operation, const char *otherwise, struct error *err)
{
    if (atomic_load(&ctx->service->draining))
        return reason_set(err, REASON_SERVER_DRAINING, "this server is stopping: %s", otherwise);
    if (operation->deadline_us <= clock_monotonic_us())
        return reason_set(err, REASON_OPERATION_TIMED_OUT, "the deadline of the stream has passed");
    return caller_authorize(&ctx->caller, operation, err);
}

static bool takes_several(const struct stream *stream)
{
    return stream->method->kind == RPC_BIDI;
}

static void count(struct stream *stream, int difference)
{
    if (stream->method->stream->count)
        stream->method->stream->count(stream->ctx.service, difference);
}

static void resume(struct recheck_call *waiting);

static void begin(struct rpc_call *call)
{
    struct stream *stream = ARENA_NEW(rpc_call_arena(call), struct stream);

    stream->call = call;
    stream->method = call_method(call);
    stream->recheck.resume = resume;
    stream->ctx.service = rpc_call_context(call);
    pthread_mutex_init(&stream->lock, NULL);
    arena_init(&stream->requests);
    arena_init(&stream->arena);
    rpc_call_set_state(call, stream);
    count(stream, 1);
    if (takes_several(stream))
        rpc_call_read(call);
}

/* ---- lock held from here on ---- */

static void finish(struct stream *stream, enum status status)
{
    stream->state = STREAM_FINISHED;
    rpc_call_finish(stream->call, codec_error_status_code(status), STR_EMPTY, STR_EMPTY);
}

static void fail(struct stream *stream, const struct error *err)
{
    stream->state = STREAM_FINISHED;
    call_fail(stream->call, err, rpc_call_arena(stream->call));
}

static void send(struct stream *stream)
{
    stream->state = STREAM_SENDING;
    rpc_call_send(stream->call, buf_str(&stream->ctx.reply));
}

static void read_next(struct stream *stream)
{
    stream->state = STREAM_READING;
    arena_cleanup(&stream->requests);
    rpc_call_read(stream->call);
}

static enum status take(struct stream *stream, struct error *err)
{
    struct call_ctx *ctx = &stream->ctx;
    ProtobufCMessage *request;
    bool is_first = !ctx->request;

    if (is_first)
        TRY(caller_identify(&ctx->caller, stream->call, err));
    ctx->account = ctx->caller.access.account;
    ctx->arena = rpc_call_arena(stream->call);
    TRY(codec_unpack(stream->method->request, stream->message,
        takes_several(stream) ? &stream->requests : ctx->arena, &request, err));
    ctx->request = request;
    TRY(stream->method->stream->take(ctx, err));
    ctx->arena = &stream->arena;
    return STATUS_OK;
}

static void done(struct operation *operation);

static enum status ask(struct stream *stream, enum stream_step *step, struct error *err)
{
    arena_cleanup(&stream->arena);
    buf_init(&stream->ctx.reply, &stream->arena);
    stream->operation = (struct operation){
        .account = stream->ctx.account,
        .arena = &stream->arena,
        .deadline_us = rpc_call_deadline_us(stream->call),
        .done = done,
    };
    *step = STREAM_RUN;
    return stream->method->stream->ask(&stream->ctx, &stream->operation, step, err);
}

static enum status tell(struct stream *stream, enum stream_step *step, struct error *err)
{
    *step = STREAM_SEND;
    return stream->method->stream->tell(&stream->ctx, &stream->operation, step, err);
}

typedef enum status part_fn(struct stream *stream, enum stream_step *step, struct error *err);

/* Ask or tell, and do what follows; true: the caller submits the operation, see leave. */
static bool advance(struct stream *stream, part_fn *part)
{
    struct error err = { 0 };
    enum stream_step step;

    if (part(stream, &step, &err) != STATUS_OK) {
        fail(stream, &err);
        return false;
    }
    switch (step) {
    case STREAM_RUN:
        stream->state = STREAM_RUNNING;
        return true;
    case STREAM_ASK:
        return advance(stream, ask);
    case STREAM_READ:
        read_next(stream);
        break;
    case STREAM_SEND:
        send(stream);
        break;
    case STREAM_SEND_LAST:
        send(stream);
        finish(stream, STATUS_OK);
        break;
    case STREAM_END:
        finish(stream, STATUS_OK);
        break;
    }
    return false;
}

/* A request has come; the result is that of advance. */
static bool receive(struct stream *stream)
{
    struct error err = { 0 };

    if (take(stream, &err) == STATUS_OK)
        return advance(stream, ask);
    stream->state = STREAM_UNKNOWN;
    if (!recheck_wait(stream->ctx.service, &stream->ctx.caller, &stream->recheck))
        fail(stream, &err);
    return false;
}

/* Release the lock. Without an operation to submit the call may be gone afterwards. */
static void leave(struct stream *stream, bool submit)
{
    pthread_mutex_unlock(&stream->lock);
    if (submit)
        store_submit(stream->ctx.service->store, &stream->operation);
}

/* ---- events ---- */

static void done(struct operation *operation)
{
    struct stream *stream = CONTAINER_OF(operation, struct stream, operation);
    bool submit = false;

    pthread_mutex_lock(&stream->lock);
    assert(stream->state == STREAM_RUNNING);
    if (stream->was_cancelled)
        finish(stream, STATUS_CANCELLED);
    else if (operation->status != STATUS_OK)
        fail(stream, operation->error);
    else
        submit = advance(stream, tell);
    leave(stream, submit);
}

static void on_message(struct rpc_call *call, struct str message)
{
    struct stream *stream = rpc_call_state(call);

    pthread_mutex_lock(&stream->lock);
    stream->message = message;
    leave(stream, receive(stream));
}

static void resume(struct recheck_call *waiting)
{
    struct stream *stream = CONTAINER_OF(waiting, struct stream, recheck);
    bool submit = false;

    pthread_mutex_lock(&stream->lock);
    assert(stream->state == STREAM_UNKNOWN);
    stream->state = STREAM_READING;
    if (stream->was_cancelled)
        finish(stream, STATUS_CANCELLED);
    else
        submit = receive(stream);
    leave(stream, submit);
}

static void on_half_closed(struct rpc_call *call)
{
    struct stream *stream = rpc_call_state(call);

    pthread_mutex_lock(&stream->lock);
    assert(stream->state == STREAM_READING);
    finish(stream, STATUS_OK);
    leave(stream, false);
}

static void on_sent(struct rpc_call *call)
{
    struct stream *stream = rpc_call_state(call);

    pthread_mutex_lock(&stream->lock);
    leave(stream, stream->state == STREAM_SENDING && advance(stream, ask));
}

static void on_cancelled(struct rpc_call *call)
{
    struct stream *stream = rpc_call_state(call);

    pthread_mutex_lock(&stream->lock);
    stream->was_cancelled = true;
    if (stream->state == STREAM_RUNNING)
        atomic_store(&stream->operation.cancelled, true);
    else if (stream->state != STREAM_FINISHED && stream->state != STREAM_UNKNOWN)
        finish(stream, STATUS_CANCELLED);
    leave(stream, false);
}

static void on_ended(struct rpc_call *call)
{
    struct stream *stream = rpc_call_state(call);

    /* Whoever finished the call may still be on the way out of the lock. */
    pthread_mutex_lock(&stream->lock);
    pthread_mutex_unlock(&stream->lock);
    pthread_mutex_destroy(&stream->lock);
    arena_cleanup(&stream->requests);
    arena_cleanup(&stream->arena);
    count(stream, -1);
}

const struct call_events stream_events = {
    .begin = begin,
    .message = on_message,
    .half_closed = on_half_closed,
    .sent = on_sent,
    .cancelled = on_cancelled,
    .ended = on_ended,
};
