/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_range.c - EntityService.DeleteRange.
 */
#include "service/handlers/handlers.h"

#include <string.h>

#include "api/codec_read.h"
#include "domain/reason.h"
#include "service/handlers/reply.h"

/* The filter is stored with the operation, as a text of PostgreSQL, which cannot contain a NUL. */
static enum status check_stored(struct str filter, struct error *err)
{
    const char *nul = filter.len > 0 ? memchr(filter.data, '\0', filter.len) : NULL;

    if (!nul)
        return STATUS_OK;
    (void)reason_set(err, REASON_INVALID_INPUT,
        "the filter of DeleteRange has a NUL at byte %zu; any other character is allowed",
        (size_t)(nul - filter.data));
    return error_in_field(err, "query.filter");
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DeleteRangeRequest *request = (const Tavola__V1__DeleteRangeRequest *)ctx->request;

    out->kind = OPERATION_RANGE_DELETE;
    TRY(codec_read_query_decode(request->query, ctx->arena, out, err));
    if (out->in.page.descending)
        return reason_set(err, REASON_INVALID_INPUT, "query.descending: a range is deleted first key first");
    out->in.page.filter_text = codec_str(request->query->filter);
    return check_stored(out->in.page.filter_text, err);
}

const struct method delete_range_method = {
    .path = "/tavola.v1.EntityService/DeleteRange",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_RANGE_DELETE,
    .request = &tavola__v1__delete_range_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
