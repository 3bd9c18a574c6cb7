/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drop_index.c - IndexService.DropIndex.
 */
#include "service/handlers/handlers.h"

#include "service/handlers/reply.h"
#include "tavola/v1/index_service.pb-c.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DropIndexRequest *request = (const Tavola__V1__DropIndexRequest *)ctx->request;

    out->kind = OPERATION_INDEX_DROP;
    return call_table(out, "name", request->name, err);
}

const struct method drop_index_method = {
    .path = "/tavola.v1.IndexService/DropIndex",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_INDEX_DROP,
    .request = &tavola__v1__drop_index_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
