/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - see the header.
 */
#include "service/query.h"

enum status query_decode(struct call_ctx *ctx, const Tavola__V1__Query *query,
    const Tavola__V1__ReadOptions *options, enum token_purpose purpose, ProtobufCBinaryData token,
    struct query_call *out, struct operation *operation, struct error *err)
{
    struct operation_page *page = &operation->in.page;
    struct token position;

    TRY(codec_read_query_decode(query, ctx->arena, operation, err));
    TRY(codec_read_selection_decode(options, ctx->arena, &out->selection, err));
    TRY(codec_read_wait_decode(options, &operation->wait_for_transaction, err));
    out->purpose = purpose;
    out->identity = codec_read_query_identity(query, &out->selection, ctx->arena);
    TRY(paging_read(ctx, token, purpose, out->identity, &position, &page->has_after, err));
    if (page->has_after)
        page->after = (struct entity_key){ .partition = position.first, .row = position.second };
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
