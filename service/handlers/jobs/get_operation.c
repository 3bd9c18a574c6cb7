/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_operation.c - OperationService.GetOperation.
 */
#include "service/handlers/handlers.h"

#include "api/codec_table.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__GetOperationRequest *request = (const Tavola__V1__GetOperationRequest *)ctx->request;

    out->kind = OPERATION_JOB_GET;
    out->in.jobs.operation_id = codec_str(request->operation_id);
    return codec_table_check_operation_id(out->in.jobs.operation_id, err);
}

const struct method get_operation_method = {
    .path = "/tavola.v1.OperationService/GetOperation",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_JOB_GET,
    .request = &tavola__v1__get_operation_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
