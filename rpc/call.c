/*
 * call.c - the call machine: the only file with batches and tags.
 *
 *             arrived                rpc_finish, rpc_reply             last batch done
 *   ARMED --------------> OPEN --------------------------> FINISHING -----------------> ended, freed
 *     |                   |  ^                             (status held back while
 *     | server stops      |  |                              a send is in flight)
 *     '----> freed        '--' read, sent, cancelled
 *
 * A call has at most one batch of each kind in flight; the address of that kind's tag inside the call is
 * the tag. CLOSE completes when the stream is over, for whatever reason: that is how a cancellation, a passed
 * deadline or a lost connection shows while a handler works. It is started when the call arrives; for calls of
 * one message, if the owner runs batches when the queue is drained, only after that: most have been answered then,
 * and CLOSE has gone with the answer, which saves a batch and an event of each.
 *
 * Events of one call never overlap: a completion only notes what there is to say, and one thread at a time
 * says it (`delivering`). No lock is held while a handler or the core runs, so a handler may call back. The
 * call is freed by whoever says the last word, which can only be when the handler has called rpc_finish and
 * no batch is in flight; a batch that is started may therefore be the last thing its starter does with the
 * call.
 */
#include "rpc/call.h"

#include <assert.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macros.h"
#include "rpc/bytes.h"
#include "rpc/together.h"

enum call_state {
    CALL_ARMED,     /* with the core; next event: a call arrived, or the server stops */
    CALL_OPEN,      /* with the handler, which may read and send */
    CALL_FINISHING, /* the handler is done with it; next: the last batches complete */
};

enum call_batch {
    BATCH_ARRIVE,
    BATCH_CLOSE,
    BATCH_READ,
    BATCH_SETTLE, /* a second read: see read_done */
    BATCH_SEND,
    BATCH_FINISH,
    BATCH_POST, /* an empty one: wakes a queue thread, see call_post */
    BATCH_COUNT,
};

/* More bits of in_flight, but no batches: the call is in a list, and must not go. */
enum { FRESH = BATCH_COUNT, ANSWERED };

/* What is to be told to the handler: bits of `pending`, told in this order. */
enum call_event {
    EVENT_CANCELLED = 1,
    EVENT_MESSAGE = 2,
    EVENT_HALF_CLOSED = 4,
    EVENT_SENT = 8,
};

enum {
    CODE_INVALID_ARGUMENT = GRPC_STATUS_INVALID_ARGUMENT,
    CODE_UNIMPLEMENTED = GRPC_STATUS_UNIMPLEMENTED,
    METHOD_SHOWN_BYTES = 256,
};

struct call_tag {
    struct rpc_call *call;
    enum call_batch batch;
};

struct rpc_call {
    struct call_host *host;
    const struct call_slot *slot;
    struct arena arena;
    void *handler_state;

    pthread_mutex_t lock; /* guards what follows, up to the blank line */
    enum call_state state;
    unsigned in_flight; /* bits 1 << batch */
    unsigned pending;   /* bits of enum call_event */
    bool delivering;
    bool metadata_sent;
    bool close_started;
    bool status_held; /* the status waits for the send in flight */
    grpc_status_code code;
    grpc_slice status_message;
    grpc_slice details;
    atomic_bool cancelled; /* set under the lock, read by anybody */

    struct rpc_call *next_fresh;
    struct rpc_call *next_answered;
    grpc_byte_buffer *answer; /* what an answered call is to send with its status, or NULL */
    bool silent;              /* never shown to the handler */
    grpc_call *core;
    gpr_timespec deadline;
    int64_t begun_us;
    grpc_metadata_array metadata;
    grpc_call_details generic; /* of the generic call: the method's name */
    struct bytes message;      /* the one the handler looks at, or the one being read */
    int close_cancelled;       /* written by the core */
    struct call_tag tags[BATCH_COUNT];
};

/* ---- life and death ---- */

static struct rpc_call *call_new(struct call_host *host, const struct call_slot *slot)
{
    struct rpc_call *call = xcalloc(1, sizeof(*call));

    call->host = host;
    call->slot = slot;
    call->silent = !slot->method;
    call->status_message = grpc_empty_slice();
    call->details = grpc_empty_slice();
    arena_init(&call->arena);
    pthread_mutex_init(&call->lock, NULL);
    grpc_metadata_array_init(&call->metadata);
    if (!slot->method)
        grpc_call_details_init(&call->generic);
    for (int i = 0; i < BATCH_COUNT; i++)
        call->tags[i] = (struct call_tag){ .call = call, .batch = (enum call_batch)i };
    atomic_fetch_add(&host->alive, 1);
    return call;
}

static void call_free(struct rpc_call *call)
{
    struct call_host *host = call->host;

    bytes_release(&call->message);
    grpc_slice_unref(call->status_message);
    grpc_slice_unref(call->details);
    grpc_metadata_array_destroy(&call->metadata);
    if (!call->slot->method)
        grpc_call_details_destroy(&call->generic);
    if (call->core)
        grpc_call_unref(call->core);
    arena_cleanup(&call->arena);
    pthread_mutex_destroy(&call->lock);
    free(call);

    if (atomic_fetch_sub(&host->alive, 1) == 1) {
        pthread_mutex_lock(&host->lock);
        pthread_cond_broadcast(&host->changed);
        pthread_mutex_unlock(&host->lock);
    }
}

static bool takes_one_message(const struct rpc_method *method)
{
    return method->kind == RPC_UNARY || method->kind == RPC_SERVER_STREAM;
}

void call_arm(struct call_host *host, const struct call_slot *slot)
{
    struct rpc_call *call = call_new(host, slot);
    void *tag = &call->tags[BATCH_ARRIVE];
    grpc_call_error refused;

    call->in_flight = 1U << BATCH_ARRIVE;
    if (slot->method)
        refused = grpc_server_request_registered_call(host->core, slot->registered, &call->core,
            &call->deadline, &call->metadata, takes_one_message(slot->method) ? &call->message.buffer : NULL,
            host->queue, host->queue, tag);
    else
        refused = grpc_server_request_call(
            host->core, &call->core, &call->generic, &call->metadata, host->queue, host->queue, tag);
    assert(refused == GRPC_CALL_OK);
    (void)refused;
}

/* ---- batches ---- */

static void start(grpc_call *core, const grpc_op *ops, size_t count, void *tag)
{
    grpc_call_error refused = grpc_call_start_batch(core, ops, count, tag, NULL);

    assert(refused == GRPC_CALL_OK);
    (void)refused;
}

static void *fly(struct rpc_call *call, enum call_batch batch)
{
    assert(!(call->in_flight & (1U << batch)));
    call->in_flight |= 1U << batch;
    return &call->tags[batch];
}

/* A caller who asks for gzip gets it, if his library has said that it can read it. */
static grpc_op initial_metadata_op(const struct rpc_call *call)
{
    grpc_op op = { .op = GRPC_OP_SEND_INITIAL_METADATA };
    struct str asked = bytes_metadata(&call->metadata, STR_LITERAL("accept-encoding"));

    if (str_equal(asked, STR_LITERAL("gzip"))) {
        op.data.send_initial_metadata.maybe_compression_level.is_set = 1;
        op.data.send_initial_metadata.maybe_compression_level.level = GRPC_COMPRESS_LEVEL_LOW;
    }
    return op;
}

static grpc_op close_op(struct rpc_call *call)
{
    return (grpc_op){ .op = GRPC_OP_RECV_CLOSE_ON_SERVER,
        .data.recv_close_on_server.cancelled = &call->close_cancelled };
}

static grpc_op message_op(grpc_byte_buffer *buffer)
{
    return (grpc_op){ .op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = buffer };
}

/*
 * Send the status; with the metadata if that has not left yet, and with the last message (buffer, or
 * NULL), which makes a unary reply one batch. Called with the lock held, returns without it: the call may
 * be gone when the batch has started.
 */
static void start_finish(struct rpc_call *call, grpc_byte_buffer *buffer)
{
    grpc_call *core = call->core;
    void *tag = fly(call, BATCH_FINISH);
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
    ops[count].data.send_status_from_server.status = call->code;
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

/* Called with the lock held, returns without it. */
static void start_close(struct rpc_call *call)
{
    void *tag = fly(call, BATCH_CLOSE);
    grpc_op op = close_op(call);

    call->close_started = true;
    pthread_mutex_unlock(&call->lock);

    start(call->core, &op, 1, tag);
}

static void start_read(struct rpc_call *call, void *tag)
{
    grpc_op op = { .op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->message.buffer };

    start(call->core, &op, 1, tag);
}

/* ---- what is told to the handler ---- */

static void note_cancelled(struct rpc_call *call)
{
    if (atomic_exchange(&call->cancelled, true))
        return;
    if (call->state == CALL_OPEN)
        call->pending = EVENT_CANCELLED;
}

/* The next thing to tell, or 0. Nothing more is told to a handler that is done. */
static unsigned next_event(struct rpc_call *call)
{
    unsigned event = call->pending & (~call->pending + 1);

    if (call->state == CALL_FINISHING || call->silent)
        return 0;
    call->pending &= ~event;
    return event;
}

static void tell(struct rpc_call *call, enum call_event event)
{
    const struct rpc_events *events = &call->host->events;

    switch (event) {
    case EVENT_CANCELLED:
        if (events->cancelled)
            events->cancelled(call);
        return;
    case EVENT_MESSAGE:
        events->message(call, bytes_view(&call->message));
        return;
    case EVENT_HALF_CLOSED:
        events->half_closed(call);
        return;
    case EVENT_SENT:
        events->sent(call);
        return;
    }
}

static void end(struct rpc_call *call)
{
    struct call_host *host = call->host;

    if (!call->silent) {
        if (host->events.ended)
            host->events.ended(call);
        atomic_fetch_sub(&host->open, 1);
    }
    call_free(call);
}

/* Tell the handler what there is to tell, unless another thread is at it. Enter with the lock held. */
static void deliver(struct rpc_call *call)
{
    unsigned event;
    bool is_over;

    if (call->delivering) {
        pthread_mutex_unlock(&call->lock);
        return;
    }
    call->delivering = true;
    while ((event = next_event(call)) != 0) {
        pthread_mutex_unlock(&call->lock);
        tell(call, (enum call_event)event);
        pthread_mutex_lock(&call->lock);
    }
    call->delivering = false;
    is_over = call->state == CALL_FINISHING && call->in_flight == 0;
    pthread_mutex_unlock(&call->lock);

    if (is_over)
        end(call);
}

/* ---- completions ---- */

static void finish_unknown(struct rpc_call *call)
{
    struct str name = bytes_of_slice(&call->generic.method);
    struct str text;

    if (name.len > METHOD_SHOWN_BYTES)
        name.len = METHOD_SHOWN_BYTES;
    text = arena_format(&call->arena, "unknown method %.*s", STR_ARG(name));
    rpc_finish(call, CODE_UNIMPLEMENTED, text, STR_EMPTY);
}

/* Only streams need CLOSE at once; other calls may be answered before anybody could ask. */
static void watch_close(struct rpc_call *call, struct call_list *fresh)
{
    if (call->slot->method && !call->silent && takes_one_message(call->slot->method) &&
        call->host->events.drained) {
        call->in_flight |= 1U << FRESH;
        call->next_fresh = fresh->first;
        fresh->first = call;
        return;
    }
    pthread_mutex_lock(&call->lock);
    start_close(call);
}

/* A call has come. Its first events are told here, before any completion can be: CLOSE just notes. */
static void arrived(struct rpc_call *call, struct call_list *fresh)
{
    struct call_host *host = call->host;

    call_arm(host, call->slot);
    if (call->slot->method && takes_one_message(call->slot->method) && !call->message.buffer)
        call->silent = true;
    call->state = CALL_OPEN;
    call->delivering = true;
    watch_close(call, fresh);

    if (!call->slot->method) {
        finish_unknown(call);
    } else if (call->silent) {
        /* Also when it was cancelled before its message came: then nothing is sent. */
        rpc_finish(call, CODE_INVALID_ARGUMENT, str_of("the call carries no request message"), STR_EMPTY);
    } else {
        atomic_fetch_add(&host->open, 1);
        call->begun_us = clock_monotonic_us();
        if (host->events.begin)
            host->events.begin(call);
        if (takes_one_message(call->slot->method))
            host->events.message(call, bytes_view(&call->message));
    }
    pthread_mutex_lock(&call->lock);
    call->delivering = false;
    deliver(call);
}

/*
 * No message: the client has sent all, or has gone; the core does not say which, and CLOSE may complete a
 * little later. A second read settles it: the core runs the parts of one call in order, so that CLOSE,
 * which it had in hand before it gave us this answer, comes before the second one. Else a stream cut short
 * would be taken for a complete one. (An empty batch takes a shorter way and proves nothing.)
 */
static void read_done(struct rpc_call *call, bool ok)
{
    if (call->message.buffer) {
        if (!atomic_load(&call->cancelled))
            call->pending |= EVENT_MESSAGE;
    } else if (!ok) {
        note_cancelled(call);
    } else {
        start_read(call, fly(call, BATCH_SETTLE));
    }
}

/* The completion of CLOSE may still be in another thread's hands; what it says has been written. */
static void settle_done(struct rpc_call *call, bool ok)
{
    if (!ok || __atomic_load_n(&call->close_cancelled, __ATOMIC_ACQUIRE))
        note_cancelled(call);
    else if (!atomic_load(&call->cancelled))
        call->pending |= EVENT_HALF_CLOSED;
}

static void send_done(struct rpc_call *call, bool ok)
{
    if (!ok)
        note_cancelled(call);
    else if (!atomic_load(&call->cancelled))
        call->pending |= EVENT_SENT;
}

/* What this thread has answered since call_keep_answers, all of one host. */
static _Thread_local struct {
    bool active;
    struct rpc_call *first;
    struct rpc_call **last;
} kept;

void call_keep_answers(void)
{
    kept.active = true;
    kept.first = NULL;
    kept.last = &kept.first;
}

/* The call that carries the empty batch stays until that has completed; the others may go at once. */
void call_post_answers(void)
{
    struct rpc_call *first = kept.first, *others;
    void *tag;

    kept.active = false;
    if (!first)
        return;
    pthread_mutex_lock(&first->lock);
    tag = fly(first, BATCH_POST);
    pthread_mutex_unlock(&first->lock);
    others = atomic_load(&first->host->answered);
    do {
        *kept.last = others;
    } while (!atomic_compare_exchange_weak(&first->host->answered, &others, first));
    start(first->core, NULL, 0, tag);
}

/* In a queue thread: finish the calls that other threads have answered. */
static void send_answers(struct call_host *host)
{
    struct rpc_call *call = atomic_exchange(&host->answered, NULL);

    rpc_together(true);
    while (call) {
        struct rpc_call *next = call->next_answered;
        grpc_byte_buffer *buffer = call->answer;

        pthread_mutex_lock(&call->lock);
        call->in_flight &= ~(1U << ANSWERED);
        start_finish(call, buffer);
        if (buffer)
            grpc_byte_buffer_destroy(buffer);
        call = next;
    }
    rpc_together(false);
}

bool call_complete(void *tag, bool ok, struct call_list *fresh)
{
    const struct call_tag *done = tag;
    enum call_batch batch = done->batch;
    struct rpc_call *call = done->call;

    if (batch == BATCH_ARRIVE && !ok) {
        call_free(call);
        return false;
    }
    /* This call may be among them: its flight is over only afterwards. */
    if (batch == BATCH_POST)
        send_answers(call->host);
    pthread_mutex_lock(&call->lock);
    call->in_flight &= ~(1U << batch);
    switch (batch) {
    case BATCH_ARRIVE:
        pthread_mutex_unlock(&call->lock);
        arrived(call, fresh);
        return true;
    case BATCH_CLOSE:
        if (call->close_cancelled)
            note_cancelled(call);
        break;
    case BATCH_READ:
        read_done(call, ok);
        break;
    case BATCH_SETTLE:
        settle_done(call, ok);
        break;
    case BATCH_SEND:
        send_done(call, ok);
        if (call->status_held) {
            start_finish(call, NULL);
            return false;
        }
        break;
    case BATCH_POST:
    case BATCH_FINISH:
    case BATCH_COUNT:
        break;
    }
    deliver(call);
    return batch == BATCH_READ;
}

void call_settle(struct call_list *fresh)
{
    while (fresh->first) {
        struct rpc_call *call = fresh->first;

        fresh->first = call->next_fresh;
        pthread_mutex_lock(&call->lock);
        call->in_flight &= ~(1U << FRESH);
        if (call->close_started)
            deliver(call);
        else
            start_close(call);
    }
}

/* ---- what a handler asks and does ---- */

const struct rpc_method *rpc_call_method(const struct rpc_call *call)
{
    return call->slot->method;
}

void *rpc_call_context(const struct rpc_call *call)
{
    return call->host->context;
}

struct arena *rpc_call_arena(struct rpc_call *call)
{
    return &call->arena;
}

void *rpc_call_state(const struct rpc_call *call)
{
    return call->handler_state;
}

void rpc_call_set_state(struct rpc_call *call, void *state)
{
    call->handler_state = state;
}

int64_t rpc_call_deadline_us(const struct rpc_call *call)
{
    gpr_timespec left;

    if (gpr_time_cmp(call->deadline, gpr_inf_future(call->deadline.clock_type)) == 0)
        return INT64_MAX;
    left = gpr_time_sub(call->deadline, gpr_now(call->deadline.clock_type));
    return clock_monotonic_us() + left.tv_sec * 1000000 + left.tv_nsec / 1000;
}

int64_t rpc_call_begun_us(const struct rpc_call *call)
{
    return call->begun_us;
}

int rpc_call_code(const struct rpc_call *call)
{
    return (int)call->code;
}

bool rpc_call_is_cancelled(const struct rpc_call *call)
{
    return atomic_load(&call->cancelled);
}

struct str rpc_call_peer(struct rpc_call *call)
{
    char *peer = grpc_call_get_peer(call->core);
    struct str copy = arena_copy(&call->arena, str_of(peer));

    gpr_free(peer);
    return copy;
}

struct str rpc_call_metadata(struct rpc_call *call, const char *key)
{
    return bytes_metadata(&call->metadata, str_of(key));
}

void rpc_read(struct rpc_call *call)
{
    void *tag;

    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN && !takes_one_message(call->slot->method));
    if (atomic_load(&call->cancelled)) {
        pthread_mutex_unlock(&call->lock);
        return;
    }
    bytes_release(&call->message);
    tag = fly(call, BATCH_READ);
    pthread_mutex_unlock(&call->lock);

    start_read(call, tag);
}

void rpc_send(struct rpc_call *call, struct str message)
{
    grpc_byte_buffer *buffer;
    grpc_op ops[2];
    size_t count = 0;
    void *tag;

    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN);
    if (atomic_load(&call->cancelled)) {
        pthread_mutex_unlock(&call->lock);
        return;
    }
    if (!call->metadata_sent)
        ops[count++] = initial_metadata_op(call);
    call->metadata_sent = true;
    tag = fly(call, BATCH_SEND);
    pthread_mutex_unlock(&call->lock);

    buffer = bytes_copy(message);
    ops[count++] = message_op(buffer);
    start(call->core, ops, count, tag);
    grpc_byte_buffer_destroy(buffer);
}

/*
 * Send the status and the last message, if any, which becomes this function's; at once, or with the others of
 * rpc_together. Called with the lock held, returns without it.
 */
static void finish(struct rpc_call *call, grpc_byte_buffer *buffer)
{
    if (kept.active && (!kept.first || kept.first->host == call->host)) {
        call->in_flight |= 1U << ANSWERED;
        call->answer = buffer;
        call->next_answered = NULL;
        *kept.last = call;
        kept.last = &call->next_answered;
        pthread_mutex_unlock(&call->lock);
        return;
    }
    start_finish(call, buffer);
    if (buffer)
        grpc_byte_buffer_destroy(buffer);
}

void rpc_reply(struct rpc_call *call, struct str message)
{
    grpc_byte_buffer *buffer = bytes_copy(message);

    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN && !(call->in_flight & (1U << BATCH_SEND)));
    call->state = CALL_FINISHING;
    call->code = GRPC_STATUS_OK;
    finish(call, buffer);
}

void rpc_finish(struct rpc_call *call, int code, struct str message, struct str details)
{
    pthread_mutex_lock(&call->lock);
    assert(call->state == CALL_OPEN);
    call->state = CALL_FINISHING;
    call->code = (grpc_status_code)code;
    call->status_message = bytes_slice(message);
    call->details = bytes_slice(details);
    if (call->in_flight & (1U << BATCH_SEND)) {
        call->status_held = true;
        pthread_mutex_unlock(&call->lock);
        return;
    }
    finish(call, NULL);
}
