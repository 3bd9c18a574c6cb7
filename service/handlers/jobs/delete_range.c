/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_range.c - EntityService.DeleteRange.
 */
#include "service/handlers/handlers.h"

#include "api/codec_read.h"
#include "domain/reason.h"

enum status delete_range_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DeleteRangeRequest *request = (const Tavola__V1__DeleteRangeRequest *)ctx->request;

    out->kind = OPERATION_RANGE_DELETE;
    TRY(codec_read_query_decode(request->query, ctx->arena, out, err));
    if (out->in.page.descending)
        return reason_set(err, REASON_INVALID_INPUT, "query.descending: a range is deleted first key first");
    out->in.page.filter_text = codec_str(request->query->filter);
    return STATUS_OK;
}
