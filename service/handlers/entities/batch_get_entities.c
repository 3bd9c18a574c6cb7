/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_get_entities.c - EntityService.BatchGetEntities.
 */
#include "service/handlers/handlers.h"

#include "api/codec_read.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__BatchGetEntitiesRequest *request =
        (const Tavola__V1__BatchGetEntitiesRequest *)ctx->request;
    struct selection selection;

    out->kind = OPERATION_GET;
    TRY(call_table(out, "table", request->table, err));
    TRY(codec_read_selection_decode(request->options, ctx->arena, &selection, err));
    TRY(codec_read_wait_decode(request->options, &out->wait_for_transaction, err));
    TRY(codec_read_keys_decode(request->keys, request->n_keys, ctx->arena, &out->in.get, err));
    out->in.get.select = selection.names;
    out->in.get.select_count = selection.count;
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const Tavola__V1__BatchGetEntitiesRequest *request =
        (const Tavola__V1__BatchGetEntitiesRequest *)ctx->request;
    struct selection selection;

    TRY(codec_read_selection_decode(request->options, ctx->arena, &selection, err));
    codec_read_batch_get_write(reply, operation, &selection, ctx->arena);
    return STATUS_OK;
}

const struct method batch_get_entities_method = {
    .path = "/tavola.v1.EntityService/BatchGetEntities",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_GET,
    .request = &tavola__v1__batch_get_entities_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
