/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replace_entity.c - EntityService.ReplaceEntity.
 */
#include "service/handlers/handlers.h"

#include "api/codec_write.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ReplaceEntityRequest *request = (const Tavola__V1__ReplaceEntityRequest *)ctx->request;
    struct write write;

    TRY(call_table(out, "table", request->table, err));
    TRY(codec_write_decode(WRITE_REPLACE, request->entity, request->precondition, ctx->arena, &write, err));
    codec_write_operation(out, &write);
    return codec_request_id_decode(request->request_id, &out->in.write.request_id, err);
}

const struct method replace_entity_method = {
    .path = "/tavola.v1.EntityService/ReplaceEntity",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_WRITE,
    .request = &tavola__v1__replace_entity_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_write_result,
};
