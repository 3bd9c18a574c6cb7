/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_get_entity.c - one entity of Query Entities: GET /T(PartitionKey='p',RowKey='r').
 */
#include "domain/reason.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);

    out->kind = OPERATION_GET;
    TRY(odata_call_format(ctx, err));
    TRY(odata_selection_parse(call->target.options.select, ctx->arena, &call->view.selection, err));
    TRY(odata_call_table(ctx, out, err));
    out->in.get.keys = ARENA_NEW(ctx->arena, struct entity_key);
    out->in.get.count = 1;
    out->in.get.select = call->view.selection.names;
    out->in.get.select_count = call->view.selection.count;
    return odata_call_key(ctx, out->in.get.keys, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct odata_call *call = odata_call_of(ctx);
    const struct outcome_get *out = &operation->out.get;
    struct entity entity;
    char etag[ETAG_BYTES];

    if (!out->found[0])
        return reason_set(err, REASON_RESOURCE_NOT_FOUND, "the entity does not exist");
    entity = out->entities[0];
    if (entity.etag.key == 0)
        entity.etag.key = etag_key(&entity.key);
    odata_call_begin_reply(ctx->http, 200);
    odata_call_add_json_headers(ctx->http, odata_format_content_type(call->view.level));
    odata_call_add_header(ctx, "ETag", str_of_bytes(etag, etag_format(entity.etag, etag)));
    odata_entity_write(&call->view, &entity, reply);
    return STATUS_OK;
}

const struct method odata_get_entity_method = {
    .path = "/azure.Tables/GetEntity",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_GET,
    .decode = decode_request,
    .encode = encode_reply,
};
