/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_hot_partitions.c - AdminService.ListHotPartitions.
 */
#include "service/handlers/handlers.h"

#include "api/codec_samples.h"
#include "service/sampling/sampling.h"

/*
 * The call first stores what this server has counted, so that the answer includes it. The permission is
 * checked before, because storing drops samples for a moment.
 */
static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ListHotPartitionsRequest *request =
        (const Tavola__V1__ListHotPartitionsRequest *)ctx->request;

    out->kind = OPERATION_HOT_PARTITIONS_LIST;
    TRY(codec_samples_request_decode(request, &out->in.samples, err));
    TRY(caller_authorize(&ctx->caller, out, err));
    sampling_take(ctx->service, out);
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)err;
    codec_samples_write(reply, &operation->out.samples, ctx->arena);
    return STATUS_OK;
}

const struct method list_hot_partitions_method = {
    .path = "/tavola.v1.AdminService/ListHotPartitions",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_HOT_PARTITIONS_LIST,
    .request = &tavola__v1__list_hot_partitions_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
