/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_index.c - IndexService.LookupIndex: one page, in the order of the index.
 */
#include "service/handlers/handlers.h"

#include "api/codec_index.h"
#include "api/codec_read.h"
#include "service/consistency.h"
#include "service/paging.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__LookupIndexRequest *request = (const Tavola__V1__LookupIndexRequest *)ctx->request;
    struct token token = { .purpose = TOKEN_LOOKUP };
    bool has_after;

    out->kind = OPERATION_LOOKUP;
    TRY(call_table(out, "index", request->index, err));
    TRY(codec_index_lookup_decode(request, ctx->arena, &out->in.lookup, err));
    TRY(consistency_read(ctx->service, request->freshness, ctx->arena, &out->in.lookup.freshness, err));
    TRY(codec_read_page_size(request->page_size, &out->in.lookup.limit, err));
    token.query = codec_index_lookup_identity(request, ctx->arena);
    TRY(paging_read(ctx, request->page_token, &token, &has_after, err));
    out->in.lookup.has_after = has_after;
    if (has_after)
        out->in.lookup.after = (struct entity_key){ .partition = token.first, .row = token.second };
    return STATUS_OK;
}

static enum status write_token(struct call_ctx *ctx, const struct outcome_lookup *page,
    const struct entity_key *position, struct buf *reply, struct error *err)
{
    const Tavola__V1__LookupIndexRequest *request = (const Tavola__V1__LookupIndexRequest *)ctx->request;
    struct token token = {
        .purpose = TOKEN_LOOKUP,
        .table_id = page->table_id,
        .query = codec_index_lookup_identity(request, ctx->arena),
        .first = position->partition,
        .second = position->row,
    };

    return paging_write(ctx, reply, 3, &token, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_lookup *page = &operation->out.lookup;
    const struct selection selection = { operation->in.lookup.select, operation->in.lookup.select_count };
    struct written written;

    TRY(paging_check_table(ctx, page->table_id, err));
    if (operation->in.lookup.keys_only)
        written = codec_read_keys_write(reply, 1, page->entities, page->count);
    else
        written = codec_read_entities_write(reply, 2, page->entities, page->count, &selection, ctx->arena);
    if (written.count < page->count)
        TRY(write_token(ctx, page, &page->entries[written.count - 1], reply, err));
    else if (page->more)
        TRY(write_token(ctx, page, &page->position, reply, err));
    codec_pack(reply, 4, &codec_index_lag_message(&page->lag, ctx->arena)->base);
    codec_read_stats_write(reply, 5, &page->stats, operation->table, &written);
    return STATUS_OK;
}

const struct method lookup_index_method = {
    .path = "/tavola.v1.IndexService/LookupIndex",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_LOOKUP,
    .request = &tavola__v1__lookup_index_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
