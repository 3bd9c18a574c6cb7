/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_operations.c - OperationService.ListOperations.
 */
#include "service/handlers/handlers.h"

#include "api/codec_table.h"
#include "service/paging.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ListOperationsRequest *request =
        (const Tavola__V1__ListOperationsRequest *)ctx->request;

    out->kind = OPERATION_JOB_LIST;
    return paging_read_list(ctx,
        &(struct paging_list){ "operations", request->page_size, request->page_token }, &out->in.jobs.limit,
        &out->in.jobs.after, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_jobs *runs = &operation->out.jobs;

    for (size_t i = 0; i < runs->count; i++)
        codec_pack(reply, 1, &codec_table_job_message(&runs->jobs[i], ctx->arena)->base);
    if (!runs->more)
        return STATUS_OK;
    return paging_write_list(ctx, reply, 2, "operations", runs->position, err);
}

const struct method list_operations_method = {
    .path = "/tavola.v1.OperationService/ListOperations",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_JOB_LIST,
    .request = &tavola__v1__list_operations_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
