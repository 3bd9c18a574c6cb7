/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count_entities.c - EntityService.CountEntities: the number of matches among the entities of one page.
 */
#include "service/handlers/handlers.h"

#include "base/wire.h"
#include "service/query.h"

enum { COUNT = 1, NEXT_PAGE_TOKEN = 2, STATS = 3 };

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__CountEntitiesRequest *request = (const Tavola__V1__CountEntitiesRequest *)ctx->request;
    struct query_call *query = ARENA_NEW(ctx->arena, struct query_call);

    ctx->state = query;
    out->kind = OPERATION_COUNT;
    return query_decode(ctx,
        &(struct query_request){ request->query, NULL, TOKEN_COUNT, request->page_token }, query, out, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_page *page = &operation->out.page;
    const struct written nothing = { 0 };

    TRY(paging_check_table(ctx, page->table_id, err));
    if (page->count > 0)
        wire_write_scalar(reply, COUNT, page->count);
    if (page->more)
        TRY(query_write_token(ctx, ctx->state, page, reply, NEXT_PAGE_TOKEN, err));
    codec_read_stats_write(reply, STATS, &page->stats, STR_EMPTY, &nothing);
    return STATUS_OK;
}

const struct method count_entities_method = {
    .path = "/tavola.v1.EntityService/CountEntities",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_COUNT,
    .request = &tavola__v1__count_entities_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
