/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_operation.c - OperationService.WaitOperation.
 */
#include "service/handlers/handlers.h"

#include "api/codec_table.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__WaitOperationRequest *request = (const Tavola__V1__WaitOperationRequest *)ctx->request;

    out->kind = OPERATION_JOB_WAIT;
    out->in.jobs.operation_id = codec_str(request->operation_id);
    return codec_table_check_operation_id(out->in.jobs.operation_id, err);
}

const struct method wait_operation_method = {
    .path = "/tavola.v1.OperationService/WaitOperation",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_JOB_WAIT,
    .request = &tavola__v1__wait_operation_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
