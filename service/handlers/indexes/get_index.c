/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_index.c - IndexService.GetIndex.
 */
#include "service/handlers/handlers.h"

#include "service/handlers/reply.h"
#include "tavola/v1/index_service.pb-c.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__GetIndexRequest *request = (const Tavola__V1__GetIndexRequest *)ctx->request;

    out->kind = OPERATION_INDEX_GET;
    return call_table(out, "name", request->name, err);
}

const struct method get_index_method = {
    .path = "/tavola.v1.IndexService/GetIndex",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_INDEX_GET,
    .request = &tavola__v1__get_index_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_index,
};
