/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_get_table.c - one table of Query Tables: GET /Tables('T').
 */
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    TRY(odata_call_format(ctx, err));
    out->kind = OPERATION_TABLE_GET;
    out->in.tables.names_only = true;
    return odata_call_table(ctx, out, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);

    (void)err;
    call->view.table = STR_LITERAL("Tables");
    odata_call_begin_reply(ctx->http, 200);
    odata_call_add_json_headers(ctx->http, odata_format_content_type(call->view.level));
    odata_entity_write_table(&call->view, operation->out.tables.tables[0].name, reply);
    return STATUS_OK;
}

const struct method odata_get_table_method = {
    .path = "/azure.Tables/GetTable",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_GET,
    .decode = decode_request,
    .encode = encode_reply,
};
