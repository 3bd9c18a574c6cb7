/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_queue.c - AdminService.ControlQueue; the reply is that of list_queues.c.
 */
#include "service/handlers/handlers.h"

#include "api/codec_admin.h"

enum status control_queue_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ControlQueueRequest *request = (const Tavola__V1__ControlQueueRequest *)ctx->request;

    out->kind = OPERATION_QUEUE_CONTROL;
    return codec_admin_queue_control_decode(request, &out->in.queues, err);
}
