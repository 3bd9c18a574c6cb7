/*
 * watch_entities.c - EntityService.WatchEntities: the changes of a table, for as long as somebody listens.
 *
 *                message            store's done: news, or a bookmark is due       sent
 *   (begin) ---------------> READING ---------------------------------> SENDING ---------> READING
 *                             | ^ | done: an error, the deadline           | cancelled
 *                             '-' '-----------> FINISHED <-----------------'
 *                             done: nothing to tell
 *
 * READING is one operation: at the end of what is there it waits in the store, as state, for news or for the next
 * bookmark; else it reads the page behind the place that was told last. There is at most one page and one message, so
 * a slow client holds up nobody and costs no memory: what it has not asked for stays in the database. Events come
 * from queue threads and `done` from one of the store, so every step runs under the lock; it is not held across
 * store_submit, which may call `done` at once.
 */
#include <assert.h>
#include <pthread.h>

#include "api/codec_change.h"
#include "api/codec_error.h"
#include "base/clock.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/handlers/handlers.h"
#include "service/paging.h"

enum { CHANGES = 1, RESUME_TOKEN = 2 };
enum { MARGIN_US = 100000, US_PER_SECOND = 1000000 };

enum watch_state { WATCH_READING, WATCH_SENDING, WATCH_FINISHED };

struct watch {
    struct rpc_call *call;
    struct call_ctx ctx; /* of the call */
    pthread_mutex_t lock;
    enum watch_state state;
    bool was_cancelled;

    /* What is asked for, in the call's arena; in.changes.place moves on. */
    struct operation asked;
    struct selection selection;
    struct str identity;
    bool more;       /* there is more behind the place already */
    int64_t told_us; /* when the last message was sent; 0: none yet */

    /* The page at hand. */
    struct arena arena;
    struct operation operation;
    struct buf message;
};

static void begin(struct rpc_call *call)
{
    struct watch *watch = ARENA_NEW(rpc_call_arena(call), struct watch);

    watch->call = call;
    watch->ctx.arena = rpc_call_arena(call);
    watch->ctx.service = rpc_call_context(call);
    watch->more = true;
    pthread_mutex_init(&watch->lock, NULL);
    arena_init(&watch->arena);
    rpc_call_set_state(call, watch);
    atomic_fetch_add(&watch->ctx.service->watchers, 1);
}

/* ---- lock held from here on ---- */

static void finish(struct watch *watch, enum status status)
{
    watch->state = WATCH_FINISHED;
    rpc_finish(watch->call, codec_status_code(status), STR_EMPTY, STR_EMPTY);
}

static void fail(struct watch *watch, const struct error *err)
{
    watch->state = WATCH_FINISHED;
    call_fail(watch->call, err, rpc_call_arena(watch->call));
}

static int64_t bookmark_us(const struct watch *watch)
{
    return watch->told_us + LIMIT_BOOKMARK_S * (int64_t)US_PER_SECOND;
}

/* Send what was read, cut at the size of a message, and the token of the place behind it. */
static enum status tell(struct watch *watch, const struct outcome_changes *out, struct error *err)
{
    struct call_ctx ctx = watch->ctx;
    struct feed_place place = out->place;
    size_t told = codec_changes_write(
        &watch->message, CHANGES, out->changes, out->count, &watch->selection, &watch->arena);
    struct token token = {
        .purpose = TOKEN_CHANGES, .table_id = place.table_id, .query = watch->identity, .second = STR_EMPTY
    };

    watch->more = out->more || told < out->count;
    if (told < out->count)
        place.number = out->changes[told - 1].number;
    token.first = feed_place_encode(&place, &watch->arena);
    ctx.arena = &watch->arena;
    TRY(paging_write(&ctx, &watch->message, RESUME_TOKEN, &token, err));
    watch->asked.in.changes.has_place = true;
    watch->asked.in.changes.place = place;
    watch->told_us = clock_monotonic_us();
    watch->state = WATCH_SENDING;
    atomic_fetch_add(&watch->ctx.service->changes_told, (long long)told);
    rpc_send(watch->call, buf_str(&watch->message));
    return STATUS_OK;
}

static void done(struct operation *operation);

/* Make the next operation; the caller submits it once it has released the lock. */
static enum status start(struct watch *watch, struct error *err)
{
    struct operation *operation = &watch->operation;

    if (atomic_load(&watch->ctx.service->draining))
        return error_reason(
            err, REASON_SERVER_DRAINING, "this server is stopping: resume the watch at another one");
    arena_cleanup(&watch->arena);
    buf_init(&watch->message, &watch->arena);
    operation->kind = watch->more ? OPERATION_CHANGES : OPERATION_CHANGES_WAIT;
    operation->account = watch->ctx.account;
    operation->table = watch->asked.table;
    operation->wait_for_transaction = watch->told_us == 0 ? watch->asked.wait_for_transaction : STR_EMPTY;
    operation->arena = &watch->arena;
    operation->deadline_us = rpc_call_deadline_us(watch->call);
    operation->in.changes = watch->asked.in.changes;
    operation->in.changes.wait_until_us = bookmark_us(watch);
    operation->done = done;
    TRY(caller_authorize(&watch->ctx.caller, operation, err));
    watch->state = WATCH_READING;
    return STATUS_OK;
}

/* Tell, or go on. *submit: an operation is to be submitted. */
static enum status take_outcome(struct watch *watch, bool *submit, struct error *err)
{
    const struct outcome_changes *out = &watch->operation.out.changes;
    int64_t now_us = clock_monotonic_us(), deadline_us = rpc_call_deadline_us(watch->call);

    if (out->count > 0 || now_us >= bookmark_us(watch) || watch->told_us == 0)
        return tell(watch, out, err);
    if (deadline_us != INT64_MAX && deadline_us - now_us < MARGIN_US) {
        finish(watch, STATUS_OK);
        return STATUS_OK;
    }
    watch->asked.in.changes.place = out->place;
    watch->more = out->more;
    TRY(start(watch, err));
    *submit = true;
    return STATUS_OK;
}

/* ---- events ---- */

static void done(struct operation *operation)
{
    struct watch *watch = CONTAINER_OF(operation, struct watch, operation);
    struct error err = { 0 };
    bool submit = false;

    pthread_mutex_lock(&watch->lock);
    assert(watch->state == WATCH_READING);
    if (watch->was_cancelled)
        finish(watch, STATUS_CANCELLED);
    else if (operation->status != STATUS_OK)
        fail(watch, operation->error);
    else if (take_outcome(watch, &submit, &err) != STATUS_OK)
        fail(watch, &err);
    pthread_mutex_unlock(&watch->lock);
    if (submit)
        store_submit(watch->ctx.service->store, operation);
}

static enum status take_token(struct watch *watch, ProtobufCBinaryData text, struct error *err)
{
    struct operation_changes *changes = &watch->asked.in.changes;
    struct token token;

    TRY(paging_read(&watch->ctx, text, TOKEN_CHANGES, watch->identity, &token, &changes->has_place, err));
    if (!changes->has_place)
        return STATUS_OK;
    changes->place.table_id = token.table_id;
    if (!feed_place_decode(token.first, &changes->place))
        return error_reason(
            err, REASON_PAGE_TOKEN_INVALID, "the token is of a version that is not read any more");
    return STATUS_OK;
}

static enum status take_request(struct watch *watch, struct str message, struct error *err)
{
    const Tavola__V1__WatchEntitiesRequest *request;
    struct operation *asked = &watch->asked;
    struct arena *arena = watch->ctx.arena;
    ProtobufCMessage *unpacked;

    TRY(caller_identify(&watch->ctx.caller, watch->call, err));
    watch->ctx.account = watch->ctx.caller.access.account;
    TRY(codec_unpack(&tavola__v1__watch_entities_request__descriptor, message, arena, &unpacked, err));
    request = (const Tavola__V1__WatchEntitiesRequest *)unpacked;
    asked->account = watch->ctx.account;
    TRY(codec_watch_decode(request, arena, asked, err));
    TRY(codec_selection_decode(request->options, arena, &watch->selection, err));
    TRY(codec_wait_decode(request->options, &asked->wait_for_transaction, err));
    watch->identity = codec_watch_identity(asked, codec_str(request->filter), arena);
    return take_token(watch, request->resume_token, err);
}

static void on_message(struct rpc_call *call, struct str message)
{
    struct watch *watch = rpc_call_state(call);
    struct error err = { 0 };
    enum status status;

    pthread_mutex_lock(&watch->lock);
    status = take_request(watch, message, &err);
    if (status == STATUS_OK)
        status = start(watch, &err);
    if (status != STATUS_OK)
        fail(watch, &err);
    pthread_mutex_unlock(&watch->lock);
    if (status == STATUS_OK)
        store_submit(watch->ctx.service->store, &watch->operation);
}

static void on_sent(struct rpc_call *call)
{
    struct watch *watch = rpc_call_state(call);
    struct error err = { 0 };
    bool submit = false;

    pthread_mutex_lock(&watch->lock);
    if (watch->state == WATCH_SENDING) {
        submit = start(watch, &err) == STATUS_OK;
        if (!submit)
            fail(watch, &err);
    }
    pthread_mutex_unlock(&watch->lock);
    if (submit)
        store_submit(watch->ctx.service->store, &watch->operation);
}

static void on_cancelled(struct rpc_call *call)
{
    struct watch *watch = rpc_call_state(call);

    pthread_mutex_lock(&watch->lock);
    watch->was_cancelled = true;
    if (watch->state == WATCH_READING)
        atomic_store(&watch->operation.cancelled, true);
    else if (watch->state == WATCH_SENDING)
        finish(watch, STATUS_CANCELLED);
    pthread_mutex_unlock(&watch->lock);
}

static void on_ended(struct rpc_call *call)
{
    struct watch *watch = rpc_call_state(call);

    /* Whoever finished the call may still be on the way out of the lock. */
    pthread_mutex_lock(&watch->lock);
    pthread_mutex_unlock(&watch->lock);
    pthread_mutex_destroy(&watch->lock);
    atomic_fetch_sub(&watch->ctx.service->watchers, 1);
    arena_cleanup(&watch->arena);
}

const struct call_events watch_entities_events = {
    .begin = begin,
    .message = on_message,
    .sent = on_sent,
    .cancelled = on_cancelled,
    .ended = on_ended,
};
