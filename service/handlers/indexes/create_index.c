/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create_index.c - IndexService.CreateIndex.
 */
#include "service/handlers/handlers.h"

#include "api/codec_index.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__CreateIndexRequest *request = (const Tavola__V1__CreateIndexRequest *)ctx->request;

    out->kind = OPERATION_INDEX_CREATE;
    TRY(codec_index_decode(request->index, ctx->arena, &out->in.index.definition, err));
    out->in.index.definition.account = ctx->account;
    out->table = out->in.index.definition.name;
    return STATUS_OK;
}

const struct method create_index_method = {
    .path = "/tavola.v1.IndexService/CreateIndex",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_INDEX_CREATE,
    .request = &tavola__v1__create_index_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_index,
};
