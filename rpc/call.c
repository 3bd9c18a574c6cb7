/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - the state machine of a call, and the events that its handler gets. call_parts.h lists the other
 * parts.
 *
 *             arrived                rpc_call_finish, rpc_call_reply             last batch done
 *   ARMED --------------> OPEN --------------------------> FINISHING -----------------> ended, freed
 *     |                   |  ^                             (status held back while
 *     | server stops      |  |                              a send is in flight)
 *     '----> freed        '--' read, sent, cancelled
 *
 * The batch CLOSE completes when the stream is over, for any reason. So its completion reports a
 * cancellation, a passed deadline or a lost connection while a handler works. A call of several messages
 * starts CLOSE when the call arrives. A call of one message starts CLOSE only after the message has arrived
 * and the queue is drained: before the message, a failed read reports the same event; and most calls are
 * answered before the queue is drained, so CLOSE is part of their answer's batch, which saves one batch and
 * one event per call.
 *
 * Events of one call never overlap: a completed batch only records its event, and one thread at a time
 * delivers events to the handler (`delivering`). No lock is held while a handler or the core runs, so a
 * handler may call back. The thread that delivers the last event frees the call, once the handler has called
 * rpc_call_finish and no batch is in flight. So a function that has started a batch must not touch the call
 * afterwards.
 */
#include "rpc/call.h"

#include <assert.h>
#include <grpc/support/alloc.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macros.h"
#include "rpc/call_parts.h"

enum {
    CODE_INVALID_ARGUMENT = GRPC_STATUS_INVALID_ARGUMENT,
    CODE_RESOURCE_EXHAUSTED = GRPC_STATUS_RESOURCE_EXHAUSTED,
    CODE_UNIMPLEMENTED = GRPC_STATUS_UNIMPLEMENTED,
    METHOD_SHOWN_BYTES = 256,
    /*
     * Unary calls that notice when their client goes away. Debian's core looks through all outstanding tags for each
     * that completes: with 7,000 calls waiting, each call took twice as long. A server stream always notices: one that
     * is never answered would stay for ever.
     */
    MAX_WATCHED = 512,
};

/* ---- creation and end ---- */

static struct core_call *call_new(struct call_host *host, const struct call_slot *slot)
{
    struct core_call *call = xcalloc(1, sizeof(*call));

    call->base.transport = &call_transport;
    call->base.method = slot->method;
    call->base.context = host->context;
    call->host = host;
    call->slot = slot;
    call->silent = !slot->method;
    call->status_message = grpc_empty_slice();
    call->details = grpc_empty_slice();
    arena_init(&call->base.arena);
    pthread_mutex_init(&call->lock, NULL);
    grpc_metadata_array_init(&call->metadata);
    if (!slot->method)
        grpc_call_details_init(&call->generic);
    for (int i = 0; i < BATCH_COUNT; i++)
        call->tags[i] = (struct call_tag){ .call = call, .batch = (enum call_batch)i };
    atomic_fetch_add(&host->alive, 1);
    return call;
}

static bool is_unary(const struct core_call *call)
{
    return call->base.method && call->base.method->kind == RPC_UNARY;
}

static void tell_host(struct call_host *host)
{
    pthread_mutex_lock(&host->lock);
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

static void call_free(struct core_call *call)
{
    struct call_host *host = call->host;

    call_leave(call);
    bytes_release(&call->message);
    grpc_slice_unref(call->status_message);
    grpc_slice_unref(call->details);
    grpc_metadata_array_destroy(&call->metadata);
    if (!call->slot->method)
        grpc_call_details_destroy(&call->generic);
    if (call->core)
        grpc_call_unref(call->core);
    arena_cleanup(&call->base.arena);
    pthread_mutex_destroy(&call->lock);
    free(call);

    if (atomic_fetch_sub(&host->alive, 1) == 1)
        tell_host(host);
}

void call_arm(struct call_host *host, const struct call_slot *slot)
{
    struct core_call *call = call_new(host, slot);
    void *tag = &call->tags[BATCH_ARRIVE];
    grpc_call_error refused;

    call->in_flight = 1U << BATCH_ARRIVE;
    if (slot->method)
        refused = grpc_server_request_registered_call(host->core, slot->registered, &call->core,
            &call->deadline, &call->metadata, NULL, host->queue, host->queue, tag);
    else
        refused = grpc_server_request_call(
            host->core, &call->core, &call->generic, &call->metadata, host->queue, host->queue, tag);
    assert(refused == GRPC_CALL_OK);
    (void)refused;
}

/* ---- events of the handler ---- */

static void note_cancelled(struct core_call *call)
{
    if (atomic_exchange(&call->base.cancelled, true))
        return;
    if (call->state == CALL_OPEN)
        call->pending = EVENT_CANCELLED;
}

/* The next event for the handler, or 0. If the handler has finished its call, it gets no more events. */
static unsigned next_event(struct core_call *call)
{
    unsigned event = call->pending & (~call->pending + 1);

    if (call->state == CALL_FINISHING || call->silent)
        return 0;
    call->pending &= ~event;
    return event;
}

static void refuse_call(struct core_call *call, int code, const char *why)
{
    call_end(call, code, str_of(why), STR_EMPTY);
}

/*
 * Inflating takes processor time, so the handler is asked before, and gets the number of inflated bytes
 * afterwards. false: the handler has finished the call.
 */
static bool open_message(struct core_call *call, enum bytes_opened *out)
{
    const struct rpc_events *events = &call->host->events;
    bool is_told = events->may_inflate && bytes_is_compressed(&call->message);

    if (is_told && !events->may_inflate(&call->base))
        return false;
    *out = bytes_open(&call->message, call->slot->receive_bytes);
    if (is_told)
        events->inflated(&call->base, call->message.inflated);
    return true;
}

static void tell_message(struct core_call *call)
{
    enum bytes_opened opened;

    if (!open_message(call, &opened))
        return;
    switch (opened) {
    case BYTES_OPENED:
        call->host->events.message(&call->base, bytes_view(&call->message));
        return;
    case BYTES_TOO_LARGE:
        refuse_call(call, CODE_RESOURCE_EXHAUSTED,
            call->slot->method->is_open ? "the request has more than 4096 bytes"
                                        : "the inflated request is larger than the server accepts");
        return;
    case BYTES_DAMAGED:
        refuse_call(call, CODE_INVALID_ARGUMENT, "the request cannot be inflated");
        return;
    }
}

static void tell_event(struct core_call *call, enum call_event event)
{
    const struct rpc_events *events = &call->host->events;

    switch (event) {
    case EVENT_CANCELLED:
        if (events->cancelled)
            events->cancelled(&call->base);
        return;
    case EVENT_MESSAGE:
        tell_message(call);
        return;
    case EVENT_HALF_CLOSED:
        if (call_takes_one_message(call->slot->method))
            refuse_call(call, CODE_INVALID_ARGUMENT, "the call carries no request message");
        else
            events->half_closed(&call->base);
        return;
    case EVENT_SENT:
        events->sent(&call->base);
        return;
    }
}

static void end_call(struct core_call *call)
{
    struct call_host *host = call->host;

    if (!call->silent) {
        if (host->events.ended)
            host->events.ended(&call->base);
        if (!call->late)
            atomic_fetch_sub(&host->open_unary, is_unary(call));
        if (!call->late && atomic_fetch_sub(&host->open, 1) == 1 && atomic_load(&host->stopping))
            tell_host(host);
    }
    call_free(call);
}

/*
 * Deliver all pending events to the handler, unless another thread is delivering. Enter with the lock held;
 * the function releases the lock.
 *
 * true: the events included a message. Then this thread must call the owner's `drained` once its queue is
 * drained, even if another thread has read the message.
 */
static bool deliver(struct core_call *call)
{
    bool has_message = false;
    bool is_over;
    unsigned event;

    if (call->delivering) {
        pthread_mutex_unlock(&call->lock);
        return false;
    }
    call->delivering = true;
    while ((event = next_event(call)) != 0) {
        pthread_mutex_unlock(&call->lock);
        has_message = has_message || event == EVENT_MESSAGE;
        tell_event(call, (enum call_event)event);
        pthread_mutex_lock(&call->lock);
    }
    call->delivering = false;
    is_over = call->state == CALL_FINISHING && call->in_flight == 0;
    pthread_mutex_unlock(&call->lock);

    if (is_over)
        end_call(call);
    return has_message;
}

/* ---- completions ---- */

static void finish_unknown(struct core_call *call)
{
    struct str name = bytes_of_slice(&call->generic.method);
    struct str text;

    if (name.len > METHOD_SHOWN_BYTES)
        name.len = METHOD_SHOWN_BYTES;
    text = arena_format(&call->base.arena, "unknown method %.*s", STR_ARG(name));
    call_end(call, CODE_UNIMPLEMENTED, text, STR_EMPTY);
}

static void begin_call(struct core_call *call)
{
    struct call_host *host = call->host;

    call->late = atomic_load(&host->stopping);
    if (!call->late) {
        atomic_fetch_add(&host->open, 1);
        atomic_fetch_add(&host->open_unary, is_unary(call));
    }
    call->base.begun_us = clock_monotonic_us();
    if (host->events.begin)
        host->events.begin(&call->base);
    else
        rpc_call_read(&call->base);
}

/* A call has arrived. `delivering` is set, so a batch that completes meanwhile only records its event. */
static bool arrived(struct core_call *call)
{
    call_arm(call->host, call->slot);
    call->state = CALL_OPEN;
    call->delivering = true;
    if (!call_enter(call))
        call->silent = true;
    if (!call->silent && !call_takes_one_message(call->slot->method)) {
        pthread_mutex_lock(&call->lock);
        call_start_close(call);
    }
    if (!call->slot->method)
        finish_unknown(call);
    else if (call->silent)
        refuse_call(
            call, CODE_RESOURCE_EXHAUSTED, "too many calls of methods that need no credential are open");
    else
        begin_call(call);
    pthread_mutex_lock(&call->lock);
    call->delivering = false;
    return deliver(call);
}

/*
 * If a read ends without a message, the client has sent everything, or the stream is broken. A broken stream
 * must not count as complete.
 */
static void read_done(struct core_call *call, bool ok)
{
    if (!call->message.buffer && (!ok || grpc_call_failed_before_recv_message(call->core)))
        note_cancelled(call);
    else if (!atomic_load(&call->base.cancelled))
        call->pending |= call->message.buffer ? EVENT_MESSAGE : EVENT_HALF_CLOSED;
}

/*
 * The only message of a call has arrived. CLOSE is started later, by call_settle: most calls are answered
 * before then.
 */
static void watch_close_later(struct core_call *call, struct call_list *fresh)
{
    if (!call_takes_one_message(call->slot->method) || !(call->pending & EVENT_MESSAGE))
        return;
    call->in_flight |= 1U << FRESH;
    call->next_fresh = fresh->first;
    fresh->first = call;
}

static void send_done(struct core_call *call, bool ok)
{
    if (!ok)
        note_cancelled(call);
    else if (!atomic_load(&call->base.cancelled))
        call->pending |= EVENT_SENT;
}

bool call_complete(void *tag, bool ok, struct call_list *fresh)
{
    const struct call_tag *done = tag;
    enum call_batch batch = done->batch;
    struct core_call *call = done->call;
    bool must_drain = false;

    if (batch == BATCH_ARRIVE && !ok) {
        call_free(call);
        return false;
    }
    /*
     * call_send_answers may finish this call too, so the bit of BATCH_POST must stay set until it has
     * returned. While the thread drains, the call stays in the list of answered calls.
     */
    if (batch == BATCH_POST)
        must_drain = fresh->drains || call_send_answers(call->host);
    pthread_mutex_lock(&call->lock);
    call->in_flight &= ~(1U << batch);
    switch (batch) {
    case BATCH_ARRIVE:
        pthread_mutex_unlock(&call->lock);
        return arrived(call);
    case BATCH_CLOSE:
        if (call->is_watched)
            atomic_fetch_sub(&call->host->watched, 1);
        if (call->close_cancelled)
            note_cancelled(call);
        break;
    case BATCH_READ:
        read_done(call, ok);
        watch_close_later(call, fresh);
        break;
    case BATCH_SEND:
        send_done(call, ok);
        if (call->status_held) {
            call_start_finish(call, NULL);
            return false;
        }
        break;
    case BATCH_POST:
        return deliver(call) || must_drain;
    case BATCH_FINISH:
    case BATCH_COUNT:
        break;
    }
    return deliver(call);
}

static bool may_watch(const struct core_call *call)
{
    return !is_unary(call) || atomic_load(&call->host->watched) < MAX_WATCHED;
}

void call_settle(struct call_list *fresh)
{
    while (fresh->first) {
        struct core_call *call = fresh->first;

        fresh->first = call->next_fresh;
        pthread_mutex_lock(&call->lock);
        call->in_flight &= ~(1U << FRESH);
        if (call->close_started || !may_watch(call)) {
            (void)deliver(call);
        } else {
            call->is_watched = is_unary(call);
            atomic_fetch_add(&call->host->watched, call->is_watched);
            call_start_close(call);
        }
    }
}
