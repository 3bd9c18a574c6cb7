/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_range.c - EntityService.DeleteRange.
 */
#include "service/handlers/handlers.h"

#include "api/codec_read.h"
#include "domain/reason.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DeleteRangeRequest *request = (const Tavola__V1__DeleteRangeRequest *)ctx->request;

    out->kind = OPERATION_RANGE_DELETE;
    TRY(codec_read_query_decode(request->query, ctx->arena, out, err));
    if (out->in.page.descending)
        return reason_set(err, REASON_INVALID_INPUT, "query.descending: a range is deleted first key first");
    out->in.page.filter_text = codec_str(request->query->filter);
    return STATUS_OK;
}

const struct method delete_range_method = {
    .path = "/tavola.v1.EntityService/DeleteRange",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .request = &tavola__v1__delete_range_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
