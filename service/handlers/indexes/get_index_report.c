/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_index_report.c - IndexService.GetIndexReport.
 */
#include "service/handlers/handlers.h"

#include "api/codec_report.h"
#include "api/codec_table.h"
#include "domain/limits.h"
#include "service/paging.h"

/* A page token continues only the report that it was made for. */
static const char *list_name(struct call_ctx *ctx)
{
    const Tavola__V1__GetIndexReportRequest *request =
        (const Tavola__V1__GetIndexReportRequest *)ctx->request;

    return arena_format(ctx->arena, "differences of %.*s", STR_ARG(codec_str(request->operation_id))).data;
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__GetIndexReportRequest *request =
        (const Tavola__V1__GetIndexReportRequest *)ctx->request;

    out->kind = OPERATION_INDEX_REPORT;
    out->in.jobs.operation_id = codec_str(request->operation_id);
    TRY(codec_table_check_operation_id(out->in.jobs.operation_id, err));
    return paging_read_list(ctx,
        &(struct paging_list){ list_name(ctx), request->page_size, request->page_token }, &out->in.jobs.limit,
        &out->in.jobs.after, err);
}

/* Keys may be long, so a page may end before it has as many differences as the request allows. */
static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_report *out = &operation->out.report;
    enum { FULL_BYTES = LIMIT_REPLY_BYTES - 64 * 1024 };

    codec_pack(reply, 1, &codec_report_message(&out->report, ctx->arena)->base);
    for (size_t i = 0; i < out->count; i++) {
        codec_pack(reply, 2, &codec_report_difference_message(&out->differences[i], ctx->arena)->base);
        if (reply->len > FULL_BYTES && i + 1 < out->count)
            return paging_write_list(ctx, reply, 3, list_name(ctx),
                arena_format(ctx->arena, "%lld", (long long)out->differences[i].number), err);
    }
    return out->more ? paging_write_list(ctx, reply, 3, list_name(ctx), out->position, err) : STATUS_OK;
}

const struct method get_index_report_method = {
    .path = "/tavola.v1.IndexService/GetIndexReport",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_INDEX_REPORT,
    .request = &tavola__v1__get_index_report_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
