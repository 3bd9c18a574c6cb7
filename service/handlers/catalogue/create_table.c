/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create_table.c - TableService.CreateTable.
 */
#include "service/handlers/handlers.h"

#include "tavola/v1/table_service.pb-c.h"

enum status create_table_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__CreateTableRequest *request = (const Tavola__V1__CreateTableRequest *)ctx->request;

    out->kind = OPERATION_TABLE_CREATE;
    out->in.tables.change.change_feed = request->change_feed;
    return call_table(out, "name", request->name, err);
}
