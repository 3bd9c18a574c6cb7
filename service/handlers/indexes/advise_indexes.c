/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advise_indexes.c - IndexService.AdviseIndexes.
 */
#include "service/handlers/handlers.h"

#include "api/codec_advice.h"
#include "service/sampling/sampling.h"

/* The call first stores what this server has counted of the table, so that the answer includes it. */
static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__AdviseIndexesRequest *request = (const Tavola__V1__AdviseIndexesRequest *)ctx->request;

    out->kind = OPERATION_INDEX_ADVISE;
    TRY(call_table(out, "table", request->table, err));
    TRY(caller_authorize(&ctx->caller, out, err));
    sampling_take_queries(ctx->service, out);
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)err;
    codec_advice_write(reply, &operation->out.samples, ctx->arena);
    return STATUS_OK;
}

const struct method advise_indexes_method = {
    .path = "/tavola.v1.IndexService/AdviseIndexes",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_INDEX_ADVISE,
    .request = &tavola__v1__advise_indexes_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
