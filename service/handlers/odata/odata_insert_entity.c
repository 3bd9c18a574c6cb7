/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_insert_entity.c - Insert Entity: POST /T.
 */
#include "odata/odata_link.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"
#include "service/odata/odata_write.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct write write = { .kind = WRITE_INSERT };

    TRY(odata_call_format(ctx, err));
    TRY(odata_write_read_body(ctx, NULL, &write, err));
    TRY(odata_call_table(ctx, out, err));
    return odata_call_write(ctx, &write, out, err);
}

/* Append the entity from the write itself; the stored entity is not read again. */
static void write_entity(const struct call_ctx *ctx, const struct operation *operation, struct buf *reply)
{
    const struct odata_call *call = odata_call_of(ctx);
    const struct write *write = &operation->in.write.writes[0];
    const struct write_result *result = &operation->out.write.results[0];
    struct odata_view view = call->view;
    struct entity entity = {
        .key = write->key,
        .etag = result->etag,
        .timestamp = result->timestamp,
        .properties = write->properties,
        .expires = write->expires,
    };

    view.selection = (struct odata_selection){ .partition = true, .row = true, .timestamp = true };
    odata_call_add_json_headers(ctx->http, odata_format_content_type(view.level));
    odata_entity_write(&view, &entity, reply);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct odata_call *call = odata_call_of(ctx);
    struct buf link;

    buf_init(&link, ctx->arena);
    odata_link_write_entity(call->view.table, &operation->in.write.writes[0].key, &link);
    odata_call_begin_created(ctx, buf_str(&link));
    TRY(odata_call_add_result(ctx, operation, err));
    if (call->preference != ODATA_PREFERENCE_NO_CONTENT)
        write_entity(ctx, operation, reply);
    return STATUS_OK;
}

const struct method odata_insert_entity_method = {
    .path = "/azure.Tables/InsertEntity",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_WRITE,
    .decode = decode_request,
    .encode = encode_reply,
};
