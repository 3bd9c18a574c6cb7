/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_index.c - IndexService.VerifyIndex.
 */
#include "service/handlers/handlers.h"

#include "api/codec_report.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__VerifyIndexRequest *request = (const Tavola__V1__VerifyIndexRequest *)ctx->request;

    out->kind = OPERATION_INDEX_VERIFY;
    TRY(call_table(out, "name", request->name, err));
    return codec_report_verify_decode(request, ctx->arena, &out->in.verify, err);
}

const struct method verify_index_method = {
    .path = "/tavola.v1.IndexService/VerifyIndex",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_INDEX_VERIFY,
    .request = &tavola__v1__verify_index_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
