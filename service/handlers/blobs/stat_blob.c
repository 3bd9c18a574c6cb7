/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_blob.c - BlobService.StatBlob.
 */
#include "service/handlers/handlers.h"

#include "api/codec_blob.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__StatBlobRequest *request = (const Tavola__V1__StatBlobRequest *)ctx->request;

    out->kind = OPERATION_BLOB_GET;
    return codec_blob_name_decode(request->name, out, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)err;
    codec_pack(reply, 1, &codec_blob_message(&operation->out.blob.blobs[0], ctx->arena)->base);
    return STATUS_OK;
}

const struct method stat_blob_method = {
    .path = "/tavola.v1.BlobService/StatBlob",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_BLOB_GET,
    .request = &tavola__v1__stat_blob_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
