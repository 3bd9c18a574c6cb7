/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update_table.c - TableService.UpdateTable: change the settings of a table.
 */
#include "service/handlers/handlers.h"

#include "api/codec_table.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__UpdateTableRequest *request = (const Tavola__V1__UpdateTableRequest *)ctx->request;

    out->kind = OPERATION_TABLE_UPDATE;
    TRY(codec_table_change_decode(request, ctx->arena, &out->in.tables.change, err));
    return call_table(out, "table.name", request->table->name, err);
}

const struct method update_table_method = {
    .path = "/tavola.v1.TableService/UpdateTable",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_UPDATE,
    .request = &tavola__v1__update_table_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_table,
};
