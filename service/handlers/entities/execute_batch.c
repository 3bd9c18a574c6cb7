/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execute_batch.c - EntityService.ExecuteBatch: the entity group transaction.
 */
#include "service/handlers/handlers.h"

#include "api/codec_write.h"
#include "service/consistency.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ExecuteBatchRequest *request = (const Tavola__V1__ExecuteBatchRequest *)ctx->request;

    TRY(call_table(out, "table", request->table, err));
    out->kind = OPERATION_WRITE;
    TRY(codec_write_batch_decode(request, ctx->arena, &out->in.write, err));
    return codec_request_id_decode(request->request_id, &out->in.write.request_id, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_write *out = &operation->out.write;
    struct str token;

    TRY(consistency_write(ctx->service, out->left_open, ctx->arena, &token, err));
    for (size_t i = 0; i < operation->in.write.count; i++)
        codec_write_result(reply, 1, &out->results[i], token, out->replayed);
    return STATUS_OK;
}

const struct method execute_batch_method = {
    .path = "/tavola.v1.EntityService/ExecuteBatch",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_WRITE,
    .request = &tavola__v1__execute_batch_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
