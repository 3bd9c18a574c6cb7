/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_query.c - see the header. A continuation is one token, in NextPartitionKey. NextRowKey is never sent,
 * and ignored.
 */
#include "service/odata/odata_query.h"

#include "api/codec.h"
#include "base/digits.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/odata/odata_call.h"
#include "service/paging.h"

enum status odata_query_top(struct call_ctx *ctx, int32_t *out, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);
    struct str text = call->target.options.top;
    uint64_t top = LIMIT_PAGE_ROWS;

    if (text.len > 0 && !digits_parse_unsigned(text, LIMIT_PAGE_ROWS, &top))
        return reason_set(err, REASON_INVALID_INPUT, "$top must be a number from 0 to %d", LIMIT_PAGE_ROWS);
    call->is_empty = top == 0;
    *out = top == 0 ? 1 : (int32_t)top;
    return STATUS_OK;
}

enum status odata_query_max_plan(struct call_ctx *ctx, enum access_path *out, struct error *err)
{
    struct str name = http_request_header(odata_call_request(ctx), "x-tavola-max-plan");

    for (int path = ACCESS_POINT; name.len > 0 && path <= ACCESS_TABLE_SCAN; path++)
        if (str_equal(name, str_of(access_path_name((enum access_path)path)))) {
            *out = (enum access_path)path;
            return STATUS_OK;
        }
    if (name.len == 0)
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT,
        "x-tavola-max-plan must be POINT, ROW_RANGE, INDEX_LOOKUP, PARTITION_SCAN or TABLE_SCAN");
}

/* A continuation token continues only a query with the same filter and selection. */
static struct token token_of(struct call_ctx *ctx)
{
    const struct odata_options *options = &odata_call_of(ctx)->target.options;

    return (struct token){
        .purpose = TOKEN_PAGE,
        .query = arena_format(
            ctx->arena, "odata %.*s select %.*s", STR_ARG(options->filter), STR_ARG(options->select)),
    };
}

static enum status read_position(struct call_ctx *ctx, struct operation_page *page, struct error *err)
{
    struct str text = odata_call_of(ctx)->target.options.next_partition_key;
    struct token token = token_of(ctx);

    TRY(paging_read(ctx, codec_bytes(text), &token, &page->has_after, err));
    if (page->has_after)
        page->after = (struct entity_key){ .partition = token.first, .row = token.second };
    return STATUS_OK;
}

enum status odata_query_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct operation_page *page = &out->in.page;

    out->kind = OPERATION_PAGE;
    TRY(odata_query_top(ctx, &page->limit, err));
    TRY(filter_compile(odata_call_of(ctx)->target.options.filter, ctx->arena, &page->filter, err));
    filter_key_plan(page->filter, ctx->arena, &page->plan);
    TRY(odata_query_max_plan(ctx, &page->max_plan, err));
    return read_position(ctx, page, err);
}

void odata_query_add_stats(struct call_ctx *ctx, const struct query_stats *stats)
{
    odata_call_add_header(ctx, "x-tavola-access-path", str_of(access_path_name(stats->access_path)));
    odata_call_add_header(
        ctx, "x-tavola-rows-examined", arena_format(ctx->arena, "%lld", (long long)stats->rows_examined));
}

enum status odata_query_add_headers(struct call_ctx *ctx, const struct outcome_page *page, struct error *err)
{
    struct token token = token_of(ctx);
    struct str text;

    TRY(paging_check_table(ctx, page->table_id, err));
    odata_query_add_stats(ctx, &page->stats);
    if (!page->more || odata_call_of(ctx)->is_empty)
        return STATUS_OK;
    token.table_id = page->table_id;
    token.first = page->position.partition;
    token.second = page->position.row;
    TRY(paging_make(ctx, &token, &text, err));
    odata_call_add_header(ctx, "x-ms-continuation-NextPartitionKey", text);
    return STATUS_OK;
}
