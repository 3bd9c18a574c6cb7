/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_table.c - TableService.GetTable.
 */
#include "service/handlers/handlers.h"

#include "tavola/v1/table_service.pb-c.h"

enum status get_table_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__GetTableRequest *request = (const Tavola__V1__GetTableRequest *)ctx->request;

    out->kind = OPERATION_TABLE_GET;
    return call_table(out, "name", request->name, err);
}
