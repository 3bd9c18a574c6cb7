/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_queues.c - AdminService.ListQueues.
 */
#include "service/handlers/handlers.h"

#include "api/codec_admin.h"

enum status list_queues_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    (void)ctx, (void)err;
    out->kind = OPERATION_QUEUES_LIST;
    out->in.queues = (struct operation_queues){ .queue = -1 };
    return STATUS_OK;
}

enum status queues_encode(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)err;
    codec_admin_queues_write(reply, 1, &operation->out.queues, ctx->arena);
    return STATUS_OK;
}
