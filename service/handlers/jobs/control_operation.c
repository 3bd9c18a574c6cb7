/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_operation.c - OperationService.ControlOperation.
 */
#include "service/handlers/handlers.h"

#include "api/codec_table.h"
#include "domain/reason.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ControlOperationRequest *request =
        (const Tavola__V1__ControlOperationRequest *)ctx->request;
    struct operation_jobs *in = &out->in.jobs;

    out->kind = OPERATION_JOB_CONTROL;
    in->operation_id = codec_str(request->operation_id);
    in->control = (enum job_control)request->control;
    in->rate = request->rows_per_second;
    if (in->control < JOB_PAUSE || in->control > JOB_THROTTLE)
        return reason_set(err, REASON_INVALID_INPUT, "control is one of PAUSE, RESUME, CANCEL and THROTTLE");
    if (in->rate < 0 || (in->rate > 0 && in->control != JOB_THROTTLE))
        return reason_set(
            err, REASON_INVALID_INPUT, "rows_per_second is for THROTTLE: 0 for no limit, or more");
    TRY(codec_table_check_operation_id(in->operation_id, err));
    if (in->control == JOB_CANCEL &&
        str_starts_with(in->operation_id, STR_LITERAL(JOB_REPLACEMENT_PREFIX "-")))
        out->kind = OPERATION_INDEX_REPLACE_CANCEL;
    return STATUS_OK;
}

const struct method control_operation_method = {
    .path = "/tavola.v1.OperationService/ControlOperation",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_JOB_CONTROL,
    .request = &tavola__v1__control_operation_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
