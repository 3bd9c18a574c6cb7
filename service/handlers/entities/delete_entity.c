/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_entity.c - EntityService.DeleteEntity.
 */
#include "service/handlers/handlers.h"

#include "api/codec_write.h"

enum status delete_entity_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DeleteEntityRequest *request = (const Tavola__V1__DeleteEntityRequest *)ctx->request;
    struct write write;

    TRY(call_table(out, "table", request->table, err));
    TRY(codec_write_delete_decode(request->key, request->precondition, ctx->arena, &write, err));
    codec_write_operation(out, &write);
    return codec_request_id_decode(request->request_id, &out->in.write.request_id, err);
}
