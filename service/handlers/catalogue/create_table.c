/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create_table.c - TableService.CreateTable.
 */
#include "service/handlers/handlers.h"

#include "service/handlers/reply.h"
#include "tavola/v1/table_service.pb-c.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__CreateTableRequest *request = (const Tavola__V1__CreateTableRequest *)ctx->request;

    out->kind = OPERATION_TABLE_CREATE;
    out->in.tables.change.change_feed = request->change_feed;
    out->in.tables.change.blob_properties = request->blob_properties;
    out->in.tables.change.is_wide = request->wide_entities;
    return call_table(out, "name", request->name, err);
}

const struct method create_table_method = {
    .path = "/tavola.v1.TableService/CreateTable",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_CREATE,
    .request = &tavola__v1__create_table_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_table,
};
