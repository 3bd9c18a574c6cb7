/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_entity.c - EntityService.GetEntity.
 */
#include "service/handlers/handlers.h"

#include "api/codec_read.h"
#include "domain/reason.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__GetEntityRequest *request = (const Tavola__V1__GetEntityRequest *)ctx->request;
    struct selection selection;

    out->kind = OPERATION_GET;
    TRY(call_table(out, "table", request->table, err));
    TRY(codec_read_selection_decode(request->options, ctx->arena, &selection, err));
    TRY(codec_read_wait_decode(request->options, &out->wait_for_transaction, err));
    out->in.get.keys = ARENA_NEW(ctx->arena, struct entity_key);
    out->in.get.count = 1;
    out->in.get.select = selection.names;
    out->in.get.select_count = selection.count;
    return codec_entity_key_decode(request->key, "key", out->in.get.keys, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const Tavola__V1__GetEntityRequest *request = (const Tavola__V1__GetEntityRequest *)ctx->request;
    struct selection selection;
    struct entity entity;

    if (!operation->out.get.found[0]) {
        (void)reason_set(err, REASON_RESOURCE_NOT_FOUND, "the entity does not exist");
        error_add_meta(err, "table", operation->table);
        error_add_meta(err, "partition_key", operation->in.get.keys[0].partition);
        error_add_meta(err, "row_key", operation->in.get.keys[0].row);
        return STATUS_NOT_FOUND;
    }
    TRY(codec_read_selection_decode(request->options, ctx->arena, &selection, err));
    entity = codec_read_select(&operation->out.get.entities[0], &selection, ctx->arena);
    codec_entity_write(reply, 1, &entity);
    return STATUS_OK;
}

const struct method get_entity_method = {
    .path = "/tavola.v1.EntityService/GetEntity",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_GET,
    .request = &tavola__v1__get_entity_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
