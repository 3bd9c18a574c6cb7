/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update_index.c - IndexService.UpdateIndex.
 */
#include "service/handlers/handlers.h"

#include "api/codec_index.h"
#include "api/codec_table.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__UpdateIndexRequest *request = (const Tavola__V1__UpdateIndexRequest *)ctx->request;

    out->kind = OPERATION_INDEX_UPDATE;
    TRY(call_table(out, "name", request->name, err));
    return codec_index_update_decode(request, &out->in.index.consistency, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct job_view *update = &operation->out.index.update;

    TRY(reply_with_index(ctx, operation, reply, err));
    if (update->operation_id.len > 0)
        codec_pack(reply, 3, &codec_table_job_message(update, ctx->arena)->base);
    return STATUS_OK;
}

const struct method update_index_method = {
    .path = "/tavola.v1.IndexService/UpdateIndex",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_INDEX_UPDATE,
    .request = &tavola__v1__update_index_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
