/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_get_entities.c - EntityService.BatchGetEntities.
 */
#include "service/handlers/handlers.h"

#include "api/codec_read.h"

enum status batch_get_entities_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__BatchGetEntitiesRequest *request =
        (const Tavola__V1__BatchGetEntitiesRequest *)ctx->request;
    struct selection selection;

    out->kind = OPERATION_GET;
    TRY(call_table(out, "table", request->table, err));
    TRY(codec_read_selection_decode(request->options, ctx->arena, &selection, err));
    TRY(codec_read_wait_decode(request->options, &out->wait_for_transaction, err));
    return codec_read_keys_decode(request->keys, request->n_keys, ctx->arena, &out->in.get, err);
}

enum status batch_get_entities_encode(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const Tavola__V1__BatchGetEntitiesRequest *request =
        (const Tavola__V1__BatchGetEntitiesRequest *)ctx->request;
    struct selection selection;

    TRY(codec_read_selection_decode(request->options, ctx->arena, &selection, err));
    codec_read_batch_get_write(reply, operation, &selection, ctx->arena);
    return STATUS_OK;
}
