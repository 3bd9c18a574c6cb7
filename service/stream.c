/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - see the header.
 *
 *                message: fill_operation         done: write_message         sent: fill_operation
 *   READING --------------------------> RUNNING ---------------------> SENDING ---> RUNNING or READING the next request
 *                                        |   ^
 *                                        '---' done: no message is due, fill_operation
 *
 *   UNKNOWN    from READING: the server does not know the caller's account, see recheck.h. `resume` returns to READING
 *              with the same request
 *
 *   FINISHED   from each state, after an error or at the end; from READING by half_closed, unless the method has
 *              end_requests: then half_closed leads to RUNNING. A cancellation finishes the
 *              call at once; but while RUNNING, `done` finishes the call, and while UNKNOWN, `resume` does
 *
 * Events come from queue threads, and `done` comes from a thread of the store, so each step holds the lock. While
 * RUNNING only `done` may end the call. The lock is not held during store_submit, which may call `done` at once.
 */
#include "service/stream.h"

#include <assert.h>
#include <pthread.h>

#include "api/codec.h"
#include "api/codec_error.h"
#include "base/clock.h"
#include "base/log.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "service/sampling/sampling.h"
#include "service/tracing/slow_calls.h"

enum stream_state { STREAM_READING, STREAM_UNKNOWN, STREAM_RUNNING, STREAM_SENDING, STREAM_FINISHED };

struct stream {
    struct rpc_call *call;
    const struct method *method;
    struct call_ctx ctx;
    pthread_mutex_t lock;
    enum stream_state state;
    bool was_cancelled;
    struct str message;          /* the current request; valid until the next one is read */
    struct recheck_call recheck; /* UNKNOWN: the call continues in `resume` */

    struct memory_hold memory;
    const struct call_trace *trace; /* NULL: the call is not traced */
    struct arena requests;          /* used by the current request, if the client sends several */
    struct arena arena;             /* used by the current operation */
    struct operation operation;
};

enum status stream_admit(
    struct call_ctx *ctx, struct operation *operation, const char *advice, struct error *err)
{
    int64_t now_us = clock_monotonic_us();

    if (atomic_load(&ctx->service->draining))
        return reason_set(err, REASON_SERVER_DRAINING, "this server is stopping: %s", advice);
    if (operation->deadline_us <= now_us)
        return reason_set(err, REASON_OPERATION_TIMED_OUT, "the deadline of the stream has passed");
    TRY(caller_authorize(&ctx->caller, operation, err));
    return ctx->service->rates ? rates_admit(ctx->service->rates, operation, now_us, err) : STATUS_OK;
}

static bool reads_several_requests(const struct stream *stream)
{
    return stream->method->kind == RPC_BIDI || stream->method->kind == RPC_CLIENT_STREAM;
}

static void count_call(struct stream *stream, int difference)
{
    if (stream->method->stream->count)
        stream->method->stream->count(stream->ctx.service, difference);
}

static void resume_call(struct recheck_call *waiting);

static void begin_trace(struct stream *stream)
{
    stream->trace = tracing_begin_call(&stream->ctx.service->tracing, stream->call, stream->ctx.account);
}

/* ---- the functions up to "events" are called with the lock held ---- */

/* failure: the error's reason; NULL: none. */
static struct call_end make_end(const struct stream *stream, const char *failure)
{
    return (struct call_end){
        .call = stream->call, .path = stream->method->path, .account = stream->ctx.account, .failure = failure
    };
}

/* failure: the error's reason; NULL: the call ends with OK. */
static void note_end(const struct stream *stream, const char *failure)
{
    const struct call_end end = make_end(stream, failure);

    if (log_wants(LOG_DEBUG))
        slow_calls_note(&end, 0);
    if (stream->trace)
        tracing_end_call(&stream->ctx.service->tracing, stream->trace, &end);
}

/* An operation that has waited for an event began with its last run. */
static int64_t begun_us_of(const struct stream *stream)
{
    if (operation_kind_facts(stream->method->operation)->wait == OPERATION_WAIT_NONE)
        return operation_times_arrived_us(&stream->operation);
    return operation_times_begun_us(&stream->operation);
}

/*
 * A stream lasts as long as its caller reads it, so one operation of it is what may be slow, and is
 * logged when it ends.
 */
static void note_operation(const struct stream *stream)
{
    const struct operation *operation = &stream->operation;
    int64_t slow_us = stream->ctx.service->slow_call_us;
    struct call_end end =
        make_end(stream, operation->status == STATUS_OK ? NULL : codec_error_reason(operation->error));

    end.operation = operation;
    end.begun_us = begun_us_of(stream);
    if (slow_us > 0 && end.begun_us > 0 && clock_monotonic_us() - end.begun_us >= slow_us)
        slow_calls_note(&end, slow_us);
}

static void finish_call(struct stream *stream, enum status status)
{
    note_end(stream, status == STATUS_OK ? NULL : status_name(status));
    stream->state = STREAM_FINISHED;
    rpc_call_finish(stream->call, codec_error_status_code(status), STR_EMPTY, STR_EMPTY);
}

static void fail_call(struct stream *stream, const struct error *err)
{
    note_end(stream, codec_error_reason(err));
    stream->state = STREAM_FINISHED;
    call_fail(stream->call, err, rpc_call_arena(stream->call));
}

/*
 * Count the bytes that the stream holds: its request, the data made from it, and the message that will be
 * sent.
 */
static enum status hold_memory(struct stream *stream, struct error *err)
{
    int64_t min = stream->method->stream->min_bytes;
    size_t bytes = stream->message.len + rpc_call_arena(stream->call)->held_bytes +
                   stream->requests.held_bytes + stream->arena.held_bytes + stream->ctx.state_bytes;

    return memory_shares_hold(&stream->ctx.service->memory, stream->ctx.account, &stream->memory,
        MEMORY_OF_A_CALL + ((int64_t)bytes > min ? (int64_t)bytes : min), err);
}

/*
 * Send a message, which stays in memory until the caller has read it. If the account holds too much memory, a
 * read is refused; the result of a write is always sent.
 */
static void send_message(struct stream *stream)
{
    struct error err = { 0 };

    if (hold_memory(stream, &err) != STATUS_OK && operation_kind_facts(stream->operation.kind)->only_reads) {
        fail_call(stream, &err);
        return;
    }
    stream->state = STREAM_SENDING;
    rpc_call_send(stream->call, buf_str(&stream->ctx.reply));
}

static void read_next_request(struct stream *stream)
{
    stream->state = STREAM_READING;
    arena_cleanup(&stream->requests);
    rpc_call_read(stream->call);
}

static enum status unpack_request(struct stream *stream, struct error *err)
{
    struct call_ctx *ctx = &stream->ctx;
    ProtobufCMessage *request;

    ctx->arena = rpc_call_arena(stream->call);
    if (stream->method->request) {
        TRY(codec_unpack(stream->method->request, stream->message,
            reads_several_requests(stream) ? &stream->requests : ctx->arena, &request, err));
        ctx->request = request;
    }
    TRY(stream->method->stream->read_request(ctx, err));
    ctx->arena = &stream->arena;
    return hold_memory(stream, err);
}

static void on_done(struct operation *operation);

static enum status fill_operation(struct stream *stream, enum stream_step *step, struct error *err)
{
    arena_cleanup(&stream->arena);
    buf_init(&stream->ctx.reply, &stream->arena);
    stream->operation = (struct operation){
        .account = stream->ctx.account,
        .arena = &stream->arena,
        .deadline_us = rpc_call_deadline_us(stream->call),
        .done = on_done,
        .trace = stream->trace ? &stream->trace->context : NULL,
    };
    *step = STREAM_RUN;
    TRY(stream->method->stream->fill_operation(&stream->ctx, &stream->operation, step, err));
    assert((*step != STREAM_RUN ||
               operation_kind_facts(stream->operation.kind)->scope ==
                   operation_kind_facts(stream->method->operation)->scope ||
               (stream->method->stream->writes_entities && stream->operation.kind == OPERATION_WRITE)) &&
           "the method table says what the method needs");
    return STATUS_OK;
}

static enum status write_message(struct stream *stream, enum stream_step *step, struct error *err)
{
    *step = STREAM_SEND;
    return stream->method->stream->write_message(&stream->ctx, &stream->operation, step, err);
}

typedef enum status step_fn(struct stream *stream, enum stream_step *step, struct error *err);

/* Call fill_operation or write_message, and do the step it returns. true: the caller must submit the operation. */
static bool advance(struct stream *stream, step_fn *function)
{
    struct error err = { 0 };
    enum stream_step step;

    if (function(stream, &step, &err) != STATUS_OK) {
        fail_call(stream, &err);
        return false;
    }
    switch (step) {
    case STREAM_RUN:
        stream->state = STREAM_RUNNING;
        return true;
    case STREAM_NEXT:
        return advance(stream, fill_operation);
    case STREAM_READ:
        read_next_request(stream);
        break;
    case STREAM_SEND:
        send_message(stream);
        break;
    case STREAM_SEND_LAST:
        send_message(stream);
        if (stream->state == STREAM_SENDING)
            finish_call(stream, STATUS_OK);
        break;
    case STREAM_END:
        finish_call(stream, STATUS_OK);
        break;
    }
    return false;
}

/* A request has arrived. Returns what advance returns. */
static bool receive_request(struct stream *stream)
{
    struct error err = { 0 };

    if (unpack_request(stream, &err) == STATUS_OK)
        return advance(stream, fill_operation);
    fail_call(stream, &err);
    return false;
}

/* Identify the caller. No request is read before the caller is known to have an account. */
static void admit_caller(struct stream *stream)
{
    struct call_ctx *ctx = &stream->ctx;
    struct error err = { 0 };

    if (caller_identify(&ctx->caller, stream->call, &err) == STATUS_OK) {
        ctx->account = ctx->caller.access.account;
        begin_trace(stream);
        read_next_request(stream);
        return;
    }
    stream->state = STREAM_UNKNOWN;
    if (recheck_wait(ctx->service, &ctx->caller, &stream->recheck))
        return;
    begin_trace(stream);
    fail_call(stream, &err);
}

/* Release the lock. If no operation is submitted, the call may have ended when this returns. */
static void unlock_and_submit(struct stream *stream, bool submit)
{
    pthread_mutex_unlock(&stream->lock);
    if (submit)
        store_submit(stream->ctx.service->store, &stream->operation);
}

/* ---- events ---- */

static void on_begin(struct rpc_call *call)
{
    struct stream *stream = ARENA_NEW(rpc_call_arena(call), struct stream);

    stream->call = call;
    stream->method = call_method(call);
    stream->recheck.resume = resume_call;
    stream->ctx.service = rpc_call_context(call);
    stream->ctx.http = http_call_of(call);
    pthread_mutex_init(&stream->lock, NULL);
    arena_init(&stream->requests);
    arena_init(&stream->arena);
    rpc_call_set_state(call, stream);
    count_call(stream, 1);
    pthread_mutex_lock(&stream->lock);
    admit_caller(stream);
    pthread_mutex_unlock(&stream->lock);
}

static void on_done(struct operation *operation)
{
    struct stream *stream = CONTAINER_OF(operation, struct stream, operation);
    bool submit = false;

    pthread_mutex_lock(&stream->lock);
    assert(stream->state == STREAM_RUNNING);
    sampling_note(stream->ctx.service, operation, clock_monotonic_us());
    note_operation(stream);
    if (stream->was_cancelled)
        finish_call(stream, STATUS_CANCELLED);
    else if (operation->status != STATUS_OK)
        fail_call(stream, operation->error);
    else
        submit = advance(stream, write_message);
    unlock_and_submit(stream, submit);
}

static void on_message(struct rpc_call *call, struct str message)
{
    struct stream *stream = rpc_call_state(call);

    pthread_mutex_lock(&stream->lock);
    stream->message = message;
    unlock_and_submit(stream, receive_request(stream));
}

static void resume_call(struct recheck_call *waiting)
{
    struct stream *stream = CONTAINER_OF(waiting, struct stream, recheck);

    pthread_mutex_lock(&stream->lock);
    assert(stream->state == STREAM_UNKNOWN);
    stream->state = STREAM_READING;
    if (stream->was_cancelled)
        finish_call(stream, STATUS_CANCELLED);
    else
        admit_caller(stream);
    unlock_and_submit(stream, false);
}

static void on_half_closed(struct rpc_call *call)
{
    struct stream *stream = rpc_call_state(call);
    bool submit = false;

    pthread_mutex_lock(&stream->lock);
    assert(stream->state == STREAM_READING);
    if (stream->method->stream->end_requests) {
        stream->method->stream->end_requests(&stream->ctx);
        submit = advance(stream, fill_operation);
    } else {
        finish_call(stream, STATUS_OK);
    }
    unlock_and_submit(stream, submit);
}

static void on_sent(struct rpc_call *call)
{
    struct stream *stream = rpc_call_state(call);

    pthread_mutex_lock(&stream->lock);
    unlock_and_submit(stream, stream->state == STREAM_SENDING && advance(stream, fill_operation));
}

static void on_cancelled(struct rpc_call *call)
{
    struct stream *stream = rpc_call_state(call);

    pthread_mutex_lock(&stream->lock);
    stream->was_cancelled = true;
    if (stream->state == STREAM_RUNNING)
        atomic_store(&stream->operation.cancelled, true);
    else if (stream->state != STREAM_FINISHED && stream->state != STREAM_UNKNOWN)
        finish_call(stream, STATUS_CANCELLED);
    unlock_and_submit(stream, false);
}

static void on_ended(struct rpc_call *call)
{
    struct stream *stream = rpc_call_state(call);

    /* The thread that finished the call may still hold the lock: wait until it has released the lock. */
    pthread_mutex_lock(&stream->lock);
    pthread_mutex_unlock(&stream->lock);
    pthread_mutex_destroy(&stream->lock);
    if (stream->method->stream->release && stream->ctx.state)
        stream->method->stream->release(&stream->ctx);
    arena_cleanup(&stream->requests);
    arena_cleanup(&stream->arena);
    memory_shares_release(&stream->ctx.service->memory, &stream->memory);
    count_call(stream, -1);
}

static const struct call_ctx *context_of(struct rpc_call *call)
{
    const struct stream *stream = rpc_call_state(call);

    return &stream->ctx;
}

static void refuse_message(struct rpc_call *call, const struct error *err)
{
    struct stream *stream = rpc_call_state(call);

    pthread_mutex_lock(&stream->lock);
    fail_call(stream, err);
    unlock_and_submit(stream, false);
}

const struct call_events stream_events = {
    .begin = on_begin,
    .message = on_message,
    .half_closed = on_half_closed,
    .sent = on_sent,
    .cancelled = on_cancelled,
    .ended = on_ended,
    .context = context_of,
    .refuse = refuse_message,
};
