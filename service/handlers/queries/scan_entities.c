/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_entities.c - EntityService.ScanEntities: a query as a stream of pages.
 *
 * Each message is one page of the query, and has a token with which a later scan resumes behind the page. If the scan
 * has a snapshot, all pages are read in it, and there are no tokens.
 */
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "service/handlers/handlers.h"
#include "service/query.h"
#include "service/stream.h"

enum { ENTITIES = 1, RESUME_TOKEN = 2, STATS = 3, SNAPSHOT = 4 };

struct scan {
    struct operation query; /* as decoded from the request; its position is behind the last page */
    struct query_call asked;
    int64_t table_id;               /* of the first page; 0: none yet */
    struct buf position;            /* the bytes of the keys in query */
    struct scan_snapshot *snapshot; /* NULL: each page is a snapshot of its own */
    bool told_snapshot;
};

static enum status plan_snapshot(struct call_ctx *ctx, struct scan *scan, struct error *err)
{
    if (scan->query.in.page.has_after) {
        (void)reason_set(
            err, REASON_INVALID_INPUT, "a scan with a snapshot cannot be resumed: leave the token out");
        return error_in_field(err, "resume_token");
    }
    scan->snapshot = store_new_snapshot(ctx->service->store);
    return STATUS_OK;
}

static enum status read_request(struct call_ctx *ctx, struct error *err)
{
    const Tavola__V1__ScanEntitiesRequest *request = (const Tavola__V1__ScanEntitiesRequest *)ctx->request;
    struct scan *scan = ARENA_NEW(ctx->arena, struct scan);

    ctx->state = scan;
    buf_init(&scan->position, ctx->arena);
    TRY(query_decode(ctx,
        &(struct query_request){ request->query, request->options, TOKEN_SCAN, request->resume_token },
        &scan->asked, &scan->query, err));
    return request->snapshot ? plan_snapshot(ctx, scan, err) : STATUS_OK;
}

static void release_snapshot(struct call_ctx *ctx)
{
    struct scan *scan = ctx->state;

    store_free_snapshot(scan->snapshot);
}

static enum status fill_operation(
    struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err)
{
    struct scan *scan = ctx->state;
    struct entity_writer *writer = &scan->asked.writer;

    (void)step;
    entity_writer_init(writer, &ctx->reply, ENTITIES, &scan->asked.selection, ctx->arena);
    out->kind = OPERATION_PAGE;
    out->table = scan->query.table;
    if (scan->table_id == 0)
        out->wait_for_transaction = scan->query.wait_for_transaction;
    out->in.page = scan->query.in.page;
    out->in.page.limit = LIMIT_PAGE_ROWS;
    out->in.page.sink = &writer->sink;
    out->in.page.of_scan = true;
    out->in.page.snapshot = scan->snapshot;
    return stream_admit(ctx, out,
        scan->snapshot ? "begin the scan anew at another server" : "resume the scan at another server", err);
}

/* The table may have been deleted, and another table created with its name, since the last page. */
static enum status check_table(struct call_ctx *ctx, struct scan *scan, int64_t table_id, struct error *err)
{
    if (scan->table_id == 0)
        TRY(paging_check_table(ctx, table_id, err));
    if (scan->table_id != 0 && scan->table_id != table_id) {
        (void)reason_set(err, REASON_TABLE_NOT_FOUND,
            "table %.*s was deleted during the scan, and another table has its name now",
            STR_ARG(scan->query.table));
        error_add_meta(err, "table", scan->query.table);
        return err->status;
    }
    scan->table_id = table_id;
    return STATUS_OK;
}

/* Copy the position: the memory of the page is freed before the next page. */
static void keep_position(struct scan *scan, const struct outcome_page *page)
{
    struct operation_page *in = &scan->query.in.page;
    struct buf *position = &scan->position;

    position->len = 0;
    buf_append(position, page->position.partition);
    buf_append(position, page->position.row);
    in->has_after = page->has_position;
    in->after.partition = str_of_bytes(position->data, page->position.partition.len);
    in->after.row = str_of_bytes(position->data + page->position.partition.len, page->position.row.len);
}

static Google__Protobuf__Timestamp *timestamp_of(int64_t us, struct arena *arena)
{
    return codec_timestamp(ticks_from_unix_us(us), arena);
}

/* The first message of a scan tells the times of its snapshot. */
static void write_snapshot(struct call_ctx *ctx, struct scan *scan, const struct outcome_page *page)
{
    Tavola__V1__ScanSnapshot message = TAVOLA__V1__SCAN_SNAPSHOT__INIT;

    message.taken_at = timestamp_of(page->snapshot_taken_us, ctx->arena);
    message.held_until = timestamp_of(page->snapshot_until_us, ctx->arena);
    codec_pack(&ctx->reply, SNAPSHOT, &message.base);
    scan->told_snapshot = true;
}

static enum status write_message(
    struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err)
{
    const struct outcome_page *page = &operation->out.page;
    struct scan *scan = ctx->state;

    TRY(check_table(ctx, scan, page->table_id, err));
    if (scan->snapshot && !scan->told_snapshot) {
        write_snapshot(ctx, scan, page);
    } else if (!page->more && page->count == 0) {
        *step = STREAM_END;
        return STATUS_OK;
    }
    if (!page->more)
        *step = STREAM_SEND_LAST;
    if (!scan->snapshot)
        TRY(query_write_token(ctx, &scan->asked, page, &ctx->reply, RESUME_TOKEN, err));
    codec_read_stats_write(&ctx->reply, STATS, &page->stats, STR_EMPTY, &scan->asked.writer.written);
    keep_position(scan, page);
    return STATUS_OK;
}

static const struct stream_method stream = {
    .read_request = read_request,
    .fill_operation = fill_operation,
    .write_message = write_message,
    .release = release_snapshot,
};

const struct method scan_entities_method = {
    .path = "/tavola.v1.EntityService/ScanEntities",
    .kind = RPC_SERVER_STREAM,
    .events = &stream_events,
    .operation = OPERATION_PAGE,
    .request = &tavola__v1__scan_entities_request__descriptor,
    .stream = &stream,
};
