/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_query.c - EntityService.ExplainQuery: the access path of a query, and advice that makes the query cheaper.
 */
#include "service/handlers/handlers.h"

#include "api/codec_read.h"
#include "base/wire.h"

enum { EXPECTED = 1, SUGGESTIONS = 2 };

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ExplainQueryRequest *request = (const Tavola__V1__ExplainQueryRequest *)ctx->request;

    out->kind = OPERATION_EXPLAIN;
    return codec_read_query_decode(request->query, ctx->arena, out, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_page *page = &operation->out.page;
    const struct written nothing = { 0 };

    (void)ctx;
    (void)err;
    codec_read_stats_write(reply, EXPECTED, &page->stats, STR_EMPTY, &nothing);
    for (size_t i = 0; i < page->suggestion_count; i++)
        wire_write_bytes(reply, SUGGESTIONS, page->suggestions[i]);
    return STATUS_OK;
}

const struct method explain_query_method = {
    .path = "/tavola.v1.EntityService/ExplainQuery",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_EXPLAIN,
    .request = &tavola__v1__explain_query_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
