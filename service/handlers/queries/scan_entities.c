/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_entities.c - EntityService.ScanEntities: a query as a stream of pages.
 *
 * Each message is one page of the query, and has a token with which a later scan resumes behind the page. If the scan
 * has a snapshot, all pages are read in it, and there are no tokens.
 *
 * A large entity of a scan that is in_parts is the first and only one of its page. Its first part is in the page's
 * message; then the call holds the rest, sends it part by part, and reads nothing. The token of all parts but the last
 * is that of the message before: a scan that resumes in between reads the entity again, perhaps a later version of it.
 */
#include "base/wire.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "service/handlers/handlers.h"
#include "service/query.h"
#include "service/stream.h"

enum { ENTITIES = 1, RESUME_TOKEN = 2, STATS = 3, SNAPSHOT = 4, CONTINUES = 5, CONTINUED = 6 };

/* A key outside of the arenas of operations. */
struct kept_key {
    struct buf bytes;
    struct entity_key key;
};

/* An entity that is sent in parts, between two of them. */
struct large_entity {
    struct buf rest;      /* of its properties, of all parts but the first; empty: there is no such entity */
    size_t sent;          /* bytes of the rest */
    struct entity entity; /* without properties */
    struct kept_key key, behind;
    bool has_more; /* the scan goes on behind the entity, at `behind` */
};

struct scan {
    struct operation query; /* as decoded from the request; its position is behind the last page */
    struct query_call asked;
    int64_t table_id;         /* of the first page; 0: none yet */
    struct kept_key position; /* in query: it borrows it */
    struct large_entity large;
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
    buf_init(&scan->position.bytes, ctx->arena);
    buf_init(&scan->large.key.bytes, ctx->arena);
    buf_init(&scan->large.behind.bytes, ctx->arena);
    buf_init(&scan->large.rest, NULL);
    TRY(query_decode(ctx,
        &(struct query_request){ request->query, request->options, TOKEN_SCAN, request->resume_token },
        &scan->asked, &scan->query, err));
    scan->query.in.page.takes_large = request->in_parts;
    return request->snapshot ? plan_snapshot(ctx, scan, err) : STATUS_OK;
}

static void release_scan(struct call_ctx *ctx)
{
    struct scan *scan = ctx->state;

    store_free_snapshot(scan->snapshot);
    buf_cleanup(&scan->large.rest);
}

static void keep_key(struct kept_key *kept, const struct entity_key *key)
{
    kept->bytes.len = 0;
    buf_append(&kept->bytes, key->partition);
    buf_append(&kept->bytes, key->row);
    kept->key.partition = str_of_bytes(kept->bytes.data, key->partition.len);
    kept->key.row = str_of_bytes(kept->bytes.data + key->partition.len, key->row.len);
}

static void move_to(struct scan *scan, const struct entity_key *position)
{
    keep_key(&scan->position, position);
    scan->query.in.page.has_after = true;
    scan->query.in.page.after = scan->position.key;
}

static enum status write_token(
    struct call_ctx *ctx, struct scan *scan, bool has_position, struct entity_key position, struct error *err)
{
    struct outcome_page page = { .table_id = scan->table_id, .position = position };

    if (scan->snapshot || !has_position)
        return STATUS_OK;
    return query_write_token(ctx, &scan->asked, &page, &ctx->reply, RESUME_TOKEN, err);
}

/* ---- large entities ---- */

static enum status write_continues(struct call_ctx *ctx, struct scan *scan, struct error *err)
{
    const struct operation_page *in = &scan->query.in.page;

    wire_write_scalar(&ctx->reply, CONTINUES, true);
    return write_token(ctx, scan, in->has_after, in->after, err);
}

/* The message has the first part of a large entity: keep what else is to be sent. */
static enum status keep_large(
    struct call_ctx *ctx, struct scan *scan, const struct outcome_page *page, struct error *err)
{
    struct large_entity *large = &scan->large;
    const struct entity *entity = &scan->asked.writer.large;

    keep_key(&large->key, &entity->key);
    keep_key(&large->behind, &page->position);
    large->entity = *entity;
    large->entity.key = large->key.key;
    large->has_more = page->more;
    large->sent = 0;
    ctx->state_bytes = large->rest.capacity;
    return write_continues(ctx, scan, err);
}

static void forget_large(struct call_ctx *ctx, struct scan *scan)
{
    move_to(scan, &scan->large.behind.key);
    buf_cleanup(&scan->large.rest);
    buf_init(&scan->large.rest, NULL);
    ctx->state_bytes = 0;
}

static enum status write_part(
    struct call_ctx *ctx, struct scan *scan, enum stream_step *step, struct error *err)
{
    struct large_entity *large = &scan->large;
    struct property_list rest = { str_from(buf_str(&large->rest), large->sent) };

    large->entity.properties = property_list_head(rest, ENTITY_PART_BYTES);
    large->sent += large->entity.properties.bytes.len;
    codec_entity_write(&ctx->reply, ENTITIES, &large->entity);
    wire_write_scalar(&ctx->reply, CONTINUED, true);
    *step = STREAM_SEND;
    if (large->sent < large->rest.len)
        return write_continues(ctx, scan, err);
    if (!large->has_more)
        *step = STREAM_SEND_LAST;
    forget_large(ctx, scan);
    return write_token(ctx, scan, true, scan->position.key, err);
}

/* ---- pages ---- */

static enum status fill_operation(
    struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err)
{
    struct scan *scan = ctx->state;
    struct entity_writer *writer = &scan->asked.writer;

    entity_writer_init(writer, &ctx->reply, ENTITIES, &scan->asked.selection, ctx->arena);
    writer->rest = scan->query.in.page.takes_large ? &scan->large.rest : NULL;
    out->kind = OPERATION_PAGE;
    out->table = scan->query.table;
    if (scan->table_id == 0)
        out->wait_for_transaction = scan->query.wait_for_transaction;
    out->in.page = scan->query.in.page;
    out->in.page.limit = LIMIT_PAGE_ROWS;
    out->in.page.sink = &writer->sink;
    out->in.page.of_scan = true;
    out->in.page.snapshot = scan->snapshot;
    TRY(stream_admit(ctx, out,
        scan->snapshot ? "begin the scan anew at another server" : "resume the scan at another server", err));
    return scan->large.rest.len > 0 ? write_part(ctx, scan, step, err) : STATUS_OK;
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
    codec_read_stats_write(&ctx->reply, STATS, &page->stats, STR_EMPTY, &scan->asked.writer.written);
    if (scan->large.rest.len > 0)
        return keep_large(ctx, scan, page, err);
    if (!page->more)
        *step = STREAM_SEND_LAST;
    if (page->has_position)
        move_to(scan, &page->position);
    return write_token(ctx, scan, true, page->position, err);
}

static const struct stream_method stream = {
    .read_request = read_request,
    .fill_operation = fill_operation,
    .write_message = write_message,
    .release = release_scan,
};

const struct method scan_entities_method = {
    .path = "/tavola.v1.EntityService/ScanEntities",
    .kind = RPC_SERVER_STREAM,
    .events = &stream_events,
    .operation = OPERATION_PAGE,
    .request = &tavola__v1__scan_entities_request__descriptor,
    .stream = &stream,
};
