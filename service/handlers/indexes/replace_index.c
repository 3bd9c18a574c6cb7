/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replace_index.c - IndexService.ReplaceIndex.
 */
#include "service/handlers/handlers.h"

#include "api/codec_index.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ReplaceIndexRequest *request = (const Tavola__V1__ReplaceIndexRequest *)ctx->request;

    out->kind = OPERATION_INDEX_REPLACE;
    TRY(codec_index_decode(request->index, ctx->arena, &out->in.index.definition, err));
    out->table = out->in.index.definition.name;
    return STATUS_OK;
}

const struct method replace_index_method = {
    .path = "/tavola.v1.IndexService/ReplaceIndex",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_INDEX_REPLACE,
    .request = &tavola__v1__replace_index_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
