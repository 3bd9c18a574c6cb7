/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_call.c - the calls that are one operation each: identify, read, decode, store, encode.
 *
 *   begin --identify--> rpc_call_read ... message --decode--> store_collect ... done --encode--> rpc_call_reply
 *     '------ error ------'                 '------ error ------'  '-------- error --------> rpc_call_finish
 *
 * No part of the request is read before the caller is known to have an account.
 *
 * `message` runs on a queue thread and only collects operations; the thread runs them when it has drained its
 * queue. A call of an unknown account waits before it is read, see recheck.h. `done` runs on that thread too,
 * or on a thread of the store. From store_collect to `done` the call's memory belongs to the store. Only
 * `done` ends a call that was collected. A cancellation only marks the operation: if it may have been
 * committed, its true outcome is recorded.
 */
#include <assert.h>

#include "api/codec.h"
#include "api/codec_error.h"
#include "base/clock.h"
#include "base/log.h"
#include "domain/operations/audit_target.h"
#include "domain/reason.h"
#include "service/call.h"
#include "service/sampling/sampling.h"
#include "service/tracing/slow_calls.h"
#include "service/tracing/slowest_calls.h"

struct operation_call {
    struct rpc_call *call;
    const struct method *method;
    struct call_ctx ctx;
    struct operation operation;
    struct str message; /* the request; valid until the call is answered */
    bool has_message;
    bool is_refused; /* before a message arrived */
    struct memory_hold memory;
    struct recheck_call recheck;    /* the call continues in `resume` */
    const struct call_trace *trace; /* NULL: the call is not traced */
};

static void resume(struct recheck_call *waiting);

static enum status identify(struct operation_call *state, struct error *err)
{
    if (atomic_load(&state->ctx.service->draining))
        return reason_set(err, REASON_SERVER_DRAINING, "this server is stopping: call another server");
    TRY(caller_identify(&state->ctx.caller, state->call, err));
    state->ctx.account = state->ctx.caller.access.account;
    return STATUS_OK;
}

/*
 * Store the audit record, unless the store has committed it with a change. err: NULL if the call ends with
 * OK.
 */
static void record_call(struct operation_call *state, const struct error *err)
{
    struct service *service = state->ctx.service;

    if (!state->operation.audit && operation_kind_facts(state->method->operation)->is_administrative)
        state->operation.audit =
            audit_log_begin(&state->ctx.caller, state->method->path, NULL, state->ctx.arena);
    if (state->operation.audit && (err || !state->operation.audit->is_sent))
        audit_log_note(&service->audit_log, service->store, state->operation.audit, err);
}

/* Whether the log may have a line about the call. */
static bool is_noted(const struct operation_call *state, int64_t duration_us)
{
    int64_t slow_us = state->ctx.service->slow_call_us;

    return log_wants(LOG_DEBUG) || (slow_us > 0 && duration_us >= slow_us);
}

static void count_slow(struct service *service, const struct call_end *end, int64_t now_us)
{
    struct call_parts parts;

    if (end->awaits_event)
        return;
    call_parts_read(end, &parts);
    slowest_calls_note(&service->slowest, end, &parts, now_us);
}

/* Whether the method's calls last as long as their callers ask. */
static bool awaits_event(const struct method *method)
{
    enum operation_wait wait = operation_kind_facts(method->operation)->wait;

    return wait != OPERATION_WAIT_NONE && wait != OPERATION_WAIT_FRESHNESS;
}

/* Before the reply leaves, with which the call's memory goes. err: NULL if the call ends with OK. */
static void note_end(const struct operation_call *state, const struct error *err)
{
    struct service *service = state->ctx.service;
    int64_t now_us = clock_monotonic_us(), duration_us = now_us - rpc_call_begun_us(state->call);
    const struct call_end end = { .call = state->call,
        .path = state->method->path,
        .account = state->ctx.account,
        .operation = state->has_message ? &state->operation : NULL,
        .failure = err ? codec_error_reason(err) : NULL,
        .awaits_event = awaits_event(state->method) };

    if (slowest_calls_want(duration_us))
        count_slow(service, &end, now_us);
    if (is_noted(state, duration_us))
        slow_calls_note(&end, service->slow_call_us);
    if (state->trace)
        tracing_end_call(&service->tracing, state->trace, &end);
}

static void refuse_call(struct operation_call *state, const struct error *err)
{
    record_call(state, err);
    note_end(state, err);
    call_fail(state->call, err, state->ctx.arena);
}

static void begin_trace(struct operation_call *state)
{
    state->trace = tracing_begin_call(&state->ctx.service->tracing, state->call, state->ctx.account);
}

/* Identify the caller and read the request. The call may have ended when this returns. */
static void admit(struct operation_call *state)
{
    struct error err = { 0 };

    if (identify(state, &err) == STATUS_OK) {
        begin_trace(state);
        rpc_call_read(state->call);
    } else if (!recheck_wait(state->ctx.service, &state->ctx.caller, &state->recheck)) {
        begin_trace(state);
        state->is_refused = true;
        refuse_call(state, &err);
    }
}

static void begin_operation(struct rpc_call *call)
{
    struct operation_call *state = ARENA_NEW(rpc_call_arena(call), struct operation_call);

    state->call = call;
    state->method = call_method(call);
    state->ctx.arena = rpc_call_arena(call);
    state->ctx.service = rpc_call_context(call);
    state->ctx.http = http_call_of(call);
    buf_init(&state->ctx.reply, state->ctx.arena);
    atomic_init(&state->operation.cancelled, false);
    state->recheck.resume = resume;
    rpc_call_set_state(call, state);
    admit(state);
}

/* Count the bytes that the call holds at this moment. */
static enum status hold_memory(struct operation_call *state, struct error *err)
{
    int64_t bytes = MEMORY_OF_A_CALL + (int64_t)(state->message.len + state->ctx.arena->held_bytes);

    return memory_shares_hold(&state->ctx.service->memory, state->ctx.account, &state->memory, bytes, err);
}

/*
 * Count the reply, which stays in memory until the caller has read it. The reply to a write is not refused,
 * since the write is committed.
 */
static enum status hold_answer(struct operation_call *state, struct error *err)
{
    if (!operation_kind_facts(state->operation.kind)->only_reads)
        return STATUS_OK;
    return hold_memory(state, err);
}

/* Send ctx.reply. */
static void send_reply(struct operation_call *state)
{
    note_end(state, NULL);
    rpc_call_reply(state->call, buf_str(&state->ctx.reply));
}

static void reply(struct operation_call *state)
{
    struct operation *operation = &state->operation;
    struct buf *bytes = &state->ctx.reply;
    struct error err = { 0 };

    if (operation->status != STATUS_OK) {
        assert(operation->error);
        record_call(state, operation->error);
        note_end(state, operation->error);
        call_fail_with(state->call, operation->error, operation_conflict(operation), state->ctx.arena);
        return;
    }
    if (operation->audit)
        record_call(state, NULL);
    if (state->method->encode(&state->ctx, operation, bytes, &err) != STATUS_OK ||
        hold_answer(state, &err) != STATUS_OK) {
        note_end(state, &err);
        call_fail(state->call, &err, state->ctx.arena);
        return;
    }
    sampling_note(state->ctx.service, operation, rpc_call_begun_us(state->call));
    send_reply(state);
}

static void done(struct operation *operation)
{
    reply(CONTAINER_OF(operation, struct operation_call, operation));
}

static enum status decode(struct operation_call *state, struct error *err)
{
    struct operation *operation = &state->operation;
    ProtobufCMessage *request;

    if (state->method->request) {
        TRY(codec_unpack(state->method->request, state->message, state->ctx.arena, &request, err));
        state->ctx.request = request;
    }
    operation->account = state->ctx.account;
    operation->arena = state->ctx.arena;
    operation->done = done;
    operation->deadline_us = rpc_call_deadline_us(state->call);
    operation->trace = state->trace ? &state->trace->context : NULL;
    TRY(state->method->decode(&state->ctx, operation, err));
    if (state->ctx.is_answered)
        return hold_memory(state, err);
    assert((operation_kind_facts(operation->kind)->scope ==
                   operation_kind_facts(state->method->operation)->scope ||
               (state->method->may_get && operation->kind == OPERATION_GET) ||
               (state->method->may_look_up && operation->kind == OPERATION_LOOKUP)) &&
           "the method table says what the method needs");
    if (audit_target_is_recorded(operation))
        operation->audit =
            audit_log_begin(&state->ctx.caller, state->method->path, operation, state->ctx.arena);
    TRY(caller_authorize(&state->ctx.caller, operation, err));
    TRY(hold_memory(state, err));
    if (!state->ctx.service->rates)
        return STATUS_OK;
    return rates_admit(state->ctx.service->rates, operation, rpc_call_begun_us(state->call), err);
}

static void on_message(struct rpc_call *call, struct str message)
{
    struct operation_call *state = rpc_call_state(call);
    struct error err = { 0 };

    state->message = message;
    state->has_message = true;
    if (decode(state, &err) != STATUS_OK)
        refuse_call(state, &err);
    else if (state->ctx.is_answered)
        send_reply(state);
    else
        store_collect(state->ctx.service->store, &state->operation);
}

static void resume(struct recheck_call *waiting)
{
    admit(CONTAINER_OF(waiting, struct operation_call, recheck));
}

/*
 * Until a message has arrived, this file may end the call; afterwards only `done` may. A call that waits for its
 * account leaves, so that the monitor neither admits nor refuses it any more.
 */
static void on_cancelled(struct rpc_call *call)
{
    struct operation_call *state = rpc_call_state(call);

    atomic_store(&state->operation.cancelled, true);
    if (state->has_message)
        return;
    recheck_leave(&state->ctx.service->recheck, &state->recheck);
    if (!state->is_refused)
        rpc_call_finish(call, codec_error_status_code(STATUS_CANCELLED), STR_EMPTY, STR_EMPTY);
}

static void on_ended(struct rpc_call *call)
{
    struct operation_call *state = rpc_call_state(call);

    memory_shares_release(&state->ctx.service->memory, &state->memory);
}

static const struct call_ctx *context_of(struct rpc_call *call)
{
    const struct operation_call *state = rpc_call_state(call);

    return &state->ctx;
}

static void refuse_message(struct rpc_call *call, const struct error *err)
{
    refuse_call(rpc_call_state(call), err);
}

const struct call_events operation_call_events = {
    .begin = begin_operation,
    .message = on_message,
    .cancelled = on_cancelled,
    .ended = on_ended,
    .context = context_of,
    .refuse = refuse_message,
};
