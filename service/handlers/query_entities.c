/*
 * query_entities.c - EntityService.QueryEntities: one page, in key order.
 */
#include "service/handlers/handlers.h"

#include "api/codec_read.h"
#include "service/paging.h"

enum status query_entities_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__QueryEntitiesRequest *request = (const Tavola__V1__QueryEntitiesRequest *)ctx->request;
    const Tavola__V1__Query *query = request->query;
    struct selection selection;
    struct token token;

    if (!query)
        return codec_missing(err, "query", "which entities are wanted");
    if (query->descending)
        return codec_not_implemented(err, "query.descending");
    if (query->max_plan != TAVOLA__V1__ACCESS_PATH__ACCESS_PATH_UNSPECIFIED)
        return codec_not_implemented(err, "query.max_plan");
    out->kind = OPERATION_PAGE;
    TRY(call_table(out, query->table, err));
    TRY(codec_selection_decode(request->options, ctx->arena, &selection, err));
    TRY(codec_page_size(request->page_size, &out->in.page.limit, err));
    TRY(key_filter_parse(codec_str(query->filter), ctx->arena, &out->in.page.filter, err));
    TRY(paging_read(ctx, request->page_token, TOKEN_PAGE, codec_str(query->filter), &token,
        &out->in.page.has_after, err));
    if (out->in.page.has_after)
        out->in.page.after = (struct entity_key){ .partition = token.first, .row = token.second };
    return STATUS_OK;
}

static enum status write_token(struct call_ctx *ctx, const struct outcome_page *page,
    const struct entity_key *position, struct buf *reply, struct error *err)
{
    const Tavola__V1__QueryEntitiesRequest *request = (const Tavola__V1__QueryEntitiesRequest *)ctx->request;
    struct token token = {
        .purpose = TOKEN_PAGE,
        .table_id = page->table_id,
        .query = codec_str(request->query->filter),
        .first = position->partition,
        .second = position->row,
    };

    return paging_write(ctx, reply, 2, &token, err);
}

enum status query_entities_encode(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const Tavola__V1__QueryEntitiesRequest *request = (const Tavola__V1__QueryEntitiesRequest *)ctx->request;
    const struct outcome_page *page = &operation->out.page;
    struct selection selection;
    struct written written;

    TRY(paging_check_table(ctx, page->table_id, err));
    TRY(codec_selection_decode(request->options, ctx->arena, &selection, err));
    written = codec_entities_write(reply, 1, page->entities, page->count, &selection, ctx->arena);
    if (written.count < page->count)
        TRY(write_token(ctx, page, &page->entities[written.count - 1].key, reply, err));
    else if (page->more)
        TRY(write_token(ctx, page, &page->position, reply, err));
    codec_stats_write(reply, 3, &page->stats, STR_EMPTY, &written);
    return STATUS_OK;
}
