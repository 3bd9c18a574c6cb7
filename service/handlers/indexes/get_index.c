/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_index.c - IndexService.GetIndex.
 */
#include "service/handlers/handlers.h"

#include "tavola/v1/index_service.pb-c.h"

enum status get_index_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__GetIndexRequest *request = (const Tavola__V1__GetIndexRequest *)ctx->request;

    out->kind = OPERATION_INDEX_GET;
    return call_table(out, "name", request->name, err);
}
