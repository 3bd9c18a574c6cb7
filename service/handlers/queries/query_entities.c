/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_entities.c - EntityService.QueryEntities: one page, in ascending or descending order of the keys. The
 * store writes the entities directly into the reply.
 */
#include "service/handlers/handlers.h"

#include "service/query.h"

enum { ENTITIES = 1, NEXT_PAGE_TOKEN = 2, STATS = 3 };

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__QueryEntitiesRequest *request = (const Tavola__V1__QueryEntitiesRequest *)ctx->request;
    struct query_call *query = ARENA_NEW(ctx->arena, struct query_call);

    ctx->state = query;
    out->kind = OPERATION_PAGE;
    TRY(query_decode(ctx,
        &(struct query_request){ request->query, request->options, TOKEN_PAGE, request->page_token }, query,
        out, err));
    TRY(codec_read_page_size(request->page_size, &out->in.page.limit, err));
    entity_writer_init(&query->writer, &ctx->reply, ENTITIES, &query->selection, ctx->arena);
    out->in.page.sink = &query->writer.sink;
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_page *page = &operation->out.page;
    const struct query_call *query = ctx->state;

    TRY(paging_check_table(ctx, page->table_id, err));
    if (page->more)
        TRY(query_write_token(ctx, query, page, reply, NEXT_PAGE_TOKEN, err));
    codec_read_stats_write(reply, STATS, &page->stats, STR_EMPTY, &query->writer.written);
    return STATUS_OK;
}

const struct method query_entities_method = {
    .path = "/tavola.v1.EntityService/QueryEntities",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_PAGE,
    .request = &tavola__v1__query_entities_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
