/*
 * delete_table.c - TableService.DeleteTable.
 */
#include "service/handlers/handlers.h"

#include "tavola/v1/table_service.pb-c.h"

enum status delete_table_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DeleteTableRequest *request = (const Tavola__V1__DeleteTableRequest *)ctx->request;

    out->kind = OPERATION_TABLE_DELETE;
    return call_table(out, request->name, err);
}
