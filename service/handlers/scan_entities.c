/*
 * scan_entities.c - EntityService.ScanEntities: a query as a stream, for as long as it takes.
 *
 *                message            store's done, more to come         sent
 *   (begin) ---------------> READING ----------------------> SENDING --------> READING
 *                               | done: the end, an error       |  cancelled
 *                               '--------> FINISHED <-----------'
 *
 * A page of the query is one message; the next one is read when the transport has taken it, so memory holds one
 * page, however slow the client is. Every message carries the token to resume behind it. Events come from queue
 * threads and `done` from one of the store, so every step runs under the lock; while READING only `done` may end the
 * call. The lock is not held across store_submit, which may call `done` at once.
 */
#include <assert.h>
#include <pthread.h>

#include "api/codec_error.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/handlers/handlers.h"
#include "service/query.h"

enum { ENTITIES = 1, RESUME_TOKEN = 2, STATS = 3 };

enum scan_state { SCAN_READING, SCAN_SENDING, SCAN_FINISHED };

struct scan {
    struct rpc_call *call;
    struct call_ctx ctx; /* of the call; of a page while that is encoded */
    pthread_mutex_t lock;
    enum scan_state state;
    bool was_cancelled;

    /* What is asked for, in the call's arena. */
    struct operation query;
    struct query_call asked;
    int64_t table_id; /* of the first page; 0: none yet */
    struct buf place; /* the bytes of the position */

    /* The page at hand. */
    struct arena arena;
    struct operation operation;
    struct buf message;
};

static void begin(struct rpc_call *call)
{
    struct scan *scan = ARENA_NEW(rpc_call_arena(call), struct scan);

    scan->call = call;
    scan->ctx.arena = rpc_call_arena(call);
    scan->ctx.service = rpc_call_context(call);
    pthread_mutex_init(&scan->lock, NULL);
    arena_init(&scan->arena);
    buf_init(&scan->place, scan->ctx.arena);
    rpc_call_set_state(call, scan);
}

/* ---- lock held from here on ---- */

static void finish(struct scan *scan, const struct error *err)
{
    scan->state = SCAN_FINISHED;
    if (err)
        call_fail(scan->call, err, rpc_call_arena(scan->call));
    else
        rpc_finish(scan->call, codec_status_code(STATUS_OK), STR_EMPTY, STR_EMPTY);
}

static void finish_cancelled(struct scan *scan)
{
    scan->state = SCAN_FINISHED;
    rpc_finish(scan->call, codec_status_code(STATUS_CANCELLED), STR_EMPTY, STR_EMPTY);
}

/* The page's memory goes with the page, the position stays. */
static void keep_position(struct scan *scan, const struct outcome_page *page)
{
    struct operation_page *in = &scan->query.in.page;
    struct buf *place = &scan->place;

    place->len = 0;
    buf_append(place, page->position.partition);
    buf_append(place, page->position.row);
    in->has_after = page->has_position;
    in->after.partition = str_of_bytes(place->data, page->position.partition.len);
    in->after.row = str_of_bytes(place->data + page->position.partition.len, page->position.row.len);
}

/* A name may have passed on to another table since the page before. */
static enum status check_table(struct scan *scan, int64_t table_id, struct error *err)
{
    if (scan->table_id == 0)
        TRY(paging_check_table(&scan->ctx, table_id, err));
    if (scan->table_id != 0 && scan->table_id != table_id) {
        (void)error_reason(err, REASON_TABLE_NOT_FOUND,
            "table %.*s was deleted while it was scanned; there is another one of this name",
            STR_ARG(scan->query.table));
        error_add_meta(err, "table", scan->query.table);
        return err->status;
    }
    scan->table_id = table_id;
    return STATUS_OK;
}

/* Send the page; the last one is followed by the end. */
static enum status answer(struct scan *scan, struct error *err)
{
    const struct outcome_page *page = &scan->operation.out.page;
    struct call_ctx ctx = scan->ctx;

    TRY(check_table(scan, page->table_id, err));
    if (page->more || page->count > 0) {
        ctx.arena = &scan->arena;
        TRY(query_write_token(&ctx, &scan->asked, page, &scan->message, RESUME_TOKEN, err));
        codec_stats_write(&scan->message, STATS, &page->stats, STR_EMPTY, &scan->asked.writer.written);
        keep_position(scan, page);
        scan->state = SCAN_SENDING;
        rpc_send(scan->call, buf_str(&scan->message));
    }
    if (!page->more)
        finish(scan, NULL);
    return STATUS_OK;
}

static void done(struct operation *operation)
{
    struct scan *scan = CONTAINER_OF(operation, struct scan, operation);
    struct error err = { 0 };

    pthread_mutex_lock(&scan->lock);
    assert(scan->state == SCAN_READING);
    if (scan->was_cancelled)
        finish_cancelled(scan);
    else if (operation->status != STATUS_OK)
        finish(scan, operation->error);
    else if (answer(scan, &err) != STATUS_OK)
        finish(scan, &err);
    pthread_mutex_unlock(&scan->lock);
}

/* Make the operation of the next page; the caller submits it once it has released the lock. */
static enum status start_page(struct scan *scan, struct error *err)
{
    struct operation *operation = &scan->operation;

    if (atomic_load(&scan->ctx.service->draining))
        return error_reason(
            err, REASON_SERVER_DRAINING, "this server is stopping: resume the scan at another one");
    arena_cleanup(&scan->arena);
    buf_init(&scan->message, &scan->arena);
    entity_writer_init(&scan->asked.writer, &scan->message, ENTITIES, &scan->asked.selection, &scan->arena);
    operation->kind = OPERATION_PAGE;
    operation->account = scan->ctx.account;
    operation->table = scan->query.table;
    operation->wait_for_transaction = scan->table_id == 0 ? scan->query.wait_for_transaction : STR_EMPTY;
    operation->arena = &scan->arena;
    operation->deadline_us = rpc_call_deadline_us(scan->call);
    operation->in.page = scan->query.in.page;
    operation->in.page.limit = LIMIT_PAGE_ROWS;
    operation->in.page.sink = &scan->asked.writer.sink;
    operation->done = done;
    TRY(caller_authorize(&scan->ctx.caller, operation, err));
    scan->state = SCAN_READING;
    return STATUS_OK;
}

static enum status take_request(struct scan *scan, struct str message, struct error *err)
{
    const Tavola__V1__ScanEntitiesRequest *request;
    ProtobufCMessage *unpacked;

    TRY(caller_identify(&scan->ctx.caller, scan->call, err));
    scan->ctx.account = scan->ctx.caller.access.account;
    TRY(codec_unpack(
        &tavola__v1__scan_entities_request__descriptor, message, scan->ctx.arena, &unpacked, err));
    request = (const Tavola__V1__ScanEntitiesRequest *)unpacked;
    return query_decode(&scan->ctx, request->query, request->options, TOKEN_SCAN, request->resume_token,
        &scan->asked, &scan->query, err);
}

/* ---- events ---- */

static void on_message(struct rpc_call *call, struct str message)
{
    struct scan *scan = rpc_call_state(call);
    struct error err = { 0 };
    enum status status;

    pthread_mutex_lock(&scan->lock);
    status = take_request(scan, message, &err);
    if (status == STATUS_OK)
        status = start_page(scan, &err);
    if (status != STATUS_OK)
        finish(scan, &err);
    pthread_mutex_unlock(&scan->lock);
    if (status == STATUS_OK)
        store_submit(scan->ctx.service->store, &scan->operation);
}

static void on_sent(struct rpc_call *call)
{
    struct scan *scan = rpc_call_state(call);
    struct error err = { 0 };
    bool submit = false;

    pthread_mutex_lock(&scan->lock);
    if (scan->state == SCAN_SENDING) {
        submit = start_page(scan, &err) == STATUS_OK;
        if (!submit)
            finish(scan, &err);
    }
    pthread_mutex_unlock(&scan->lock);
    if (submit)
        store_submit(scan->ctx.service->store, &scan->operation);
}

static void on_cancelled(struct rpc_call *call)
{
    struct scan *scan = rpc_call_state(call);

    pthread_mutex_lock(&scan->lock);
    scan->was_cancelled = true;
    if (scan->state == SCAN_READING)
        atomic_store(&scan->operation.cancelled, true);
    else if (scan->state == SCAN_SENDING)
        finish_cancelled(scan);
    pthread_mutex_unlock(&scan->lock);
}

static void on_ended(struct rpc_call *call)
{
    struct scan *scan = rpc_call_state(call);

    /* Whoever finished the call may still be on the way out of the lock. */
    pthread_mutex_lock(&scan->lock);
    pthread_mutex_unlock(&scan->lock);
    pthread_mutex_destroy(&scan->lock);
    arena_cleanup(&scan->arena);
}

const struct call_events scan_entities_events = {
    .begin = begin,
    .message = on_message,
    .sent = on_sent,
    .cancelled = on_cancelled,
    .ended = on_ended,
};
