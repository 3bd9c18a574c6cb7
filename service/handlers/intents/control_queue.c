/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_queue.c - AdminService.ControlQueue.
 */
#include "service/handlers/handlers.h"

#include "api/codec_admin.h"
#include "service/handlers/reply.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ControlQueueRequest *request = (const Tavola__V1__ControlQueueRequest *)ctx->request;

    out->kind = OPERATION_QUEUE_CONTROL;
    return codec_admin_queue_control_decode(request, &out->in.queues, err);
}

const struct method control_queue_method = {
    .path = "/tavola.v1.AdminService/ControlQueue",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_QUEUE_CONTROL,
    .request = &tavola__v1__control_queue_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_queues,
};
