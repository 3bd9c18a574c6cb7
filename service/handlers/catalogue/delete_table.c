/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_table.c - TableService.DeleteTable.
 */
#include "service/handlers/handlers.h"

#include "domain/reason.h"
#include "service/handlers/reply.h"
#include "tavola/v1/table_service.pb-c.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DeleteTableRequest *request = (const Tavola__V1__DeleteTableRequest *)ctx->request;

    out->kind = OPERATION_TABLE_DELETE;
    /* As in the Azure Table service: a name that is not valid is answered as the name of a missing table. */
    if (call_table(out, "name", request->name, err) != STATUS_OK)
        return reason_set(err, REASON_RESOURCE_NOT_FOUND, "no table can have this name");
    return STATUS_OK;
}

const struct method delete_table_method = {
    .path = "/tavola.v1.TableService/DeleteTable",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_DELETE,
    .request = &tavola__v1__delete_table_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
