/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - see the header.
 */
#include "service/query.h"

enum status query_decode(struct call_ctx *ctx, const struct query_request *request, struct query_call *out,
    struct operation *operation, struct error *err)
{
    struct operation_page *page = &operation->in.page;
    struct token token = { .purpose = request->purpose };

    TRY(codec_read_query_decode(request->query, ctx->arena, operation, err));
    TRY(codec_read_selection_decode(request->options, ctx->arena, &out->selection, err));
    page->select = out->selection.names;
    page->select_count = out->selection.count;
    TRY(codec_read_wait_decode(request->options, &operation->wait_for_transaction, err));
    out->purpose = request->purpose;
    out->identity = codec_read_query_identity(request->query, &out->selection, ctx->arena);
    token.query = out->identity;
    TRY(paging_read(ctx, request->page_token, &token, &page->has_after, err));
    if (page->has_after)
        page->after = (struct entity_key){ .partition = token.first, .row = token.second };
    return STATUS_OK;
}

enum status query_write_token(struct call_ctx *ctx, const struct query_call *query,
    const struct outcome_page *page, struct buf *reply, uint32_t field, struct error *err)
{
    struct token token = {
        .purpose = query->purpose,
        .table_id = page->table_id,
        .query = query->identity,
        .first = page->position.partition,
        .second = page->position.row,
    };

    return paging_write(ctx, reply, field, &token, err);
}
