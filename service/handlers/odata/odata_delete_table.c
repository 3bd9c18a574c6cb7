/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_delete_table.c - Delete Table: DELETE /Tables('T').
 */
#include "domain/reason.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    out->kind = OPERATION_TABLE_DELETE;
    TRY(odata_call_refuse_conditions(ctx, err));
    if (odata_call_table(ctx, out, err) != STATUS_OK)
        return reason_set(err, REASON_RESOURCE_NOT_FOUND, "no table can have this name");
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)operation;
    (void)reply;
    (void)err;
    odata_call_begin_reply(ctx->http, 204);
    return STATUS_OK;
}

const struct method odata_delete_table_method = {
    .path = "/azure.Tables/DeleteTable",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_DELETE,
    .decode = decode_request,
    .encode = encode_reply,
};
