/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drop_index.c - IndexService.DropIndex.
 */
#include "service/handlers/handlers.h"

#include "tavola/v1/index_service.pb-c.h"

enum status drop_index_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DropIndexRequest *request = (const Tavola__V1__DropIndexRequest *)ctx->request;

    out->kind = OPERATION_INDEX_DROP;
    return call_table(out, "name", request->name, err);
}
