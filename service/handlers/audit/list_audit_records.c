/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_audit_records.c - AdminService.ListAuditRecords.
 */
#include "service/handlers/handlers.h"

#include "api/codec_admin.h"
#include "base/digits.h"
#include "domain/limits.h"
#include "service/paging.h"

/* A page token continues only the list that it was made for. */
static const char *list_name(const struct operation_audit *in, struct arena *arena)
{
    return arena_format(arena, "audit records %lld %lld %.*s", (long long)in->since, (long long)in->until,
        STR_ARG(in->account))
        .data;
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ListAuditRecordsRequest *request =
        (const Tavola__V1__ListAuditRecordsRequest *)ctx->request;
    struct operation_audit *in = &out->in.audit;
    struct str position;

    out->kind = OPERATION_AUDIT_LIST;
    TRY(codec_admin_audit_decode(request, in, err));
    TRY(paging_read_list(ctx,
        &(struct paging_list){ list_name(in, ctx->arena), request->page_size, request->page_token },
        &in->limit, &position, err));
    if (!digits_parse_signed(position, 0, INT64_MAX, &in->before))
        in->before = INT64_MAX; /* the first page begins with the newest record */
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_audit *out = &operation->out.audit;

    for (size_t i = 0; i < out->count; i++)
        codec_pack(reply, 1, &codec_admin_audit_message(&out->records[i], ctx->arena)->base);
    if (!out->more)
        return STATUS_OK;
    return paging_write_list(ctx, reply, 2, list_name(&operation->in.audit, ctx->arena),
        arena_format(ctx->arena, "%lld", (long long)out->records[out->count - 1].id), err);
}

const struct method list_audit_records_method = {
    .path = "/tavola.v1.AdminService/ListAuditRecords",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_AUDIT_LIST,
    .request = &tavola__v1__list_audit_records_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
