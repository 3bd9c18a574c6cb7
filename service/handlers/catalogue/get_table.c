/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_table.c - TableService.GetTable.
 */
#include "service/handlers/handlers.h"

#include "service/handlers/reply.h"
#include "tavola/v1/table_service.pb-c.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__GetTableRequest *request = (const Tavola__V1__GetTableRequest *)ctx->request;

    out->kind = OPERATION_TABLE_GET;
    return call_table(out, "name", request->name, err);
}

const struct method get_table_method = {
    .path = "/tavola.v1.TableService/GetTable",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_GET,
    .request = &tavola__v1__get_table_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_table,
};
