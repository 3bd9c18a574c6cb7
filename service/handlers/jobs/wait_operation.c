/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_operation.c - OperationService.WaitOperation.
 */
#include "service/handlers/handlers.h"

#include "api/codec_table.h"

enum status wait_operation_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__WaitOperationRequest *request = (const Tavola__V1__WaitOperationRequest *)ctx->request;

    out->kind = OPERATION_JOB_WAIT;
    out->in.jobs.operation_id = codec_str(request->operation_id);
    return codec_table_check_operation_id(out->in.jobs.operation_id, err);
}
