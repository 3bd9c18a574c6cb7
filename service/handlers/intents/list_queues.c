/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_queues.c - AdminService.ListQueues.
 */
#include "service/handlers/handlers.h"

#include "service/handlers/reply.h"
#include "tavola/v1/admin_service.pb-c.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    (void)ctx, (void)err;
    out->kind = OPERATION_QUEUES_LIST;
    out->in.queues = (struct operation_queues){ .queue = -1 };
    return STATUS_OK;
}

const struct method list_queues_method = {
    .path = "/tavola.v1.AdminService/ListQueues",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_QUEUES_LIST,
    .request = &tavola__v1__list_queues_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_queues,
};
