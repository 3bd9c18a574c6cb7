/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_blob.c - BlobService.DeleteBlob.
 */
#include "service/handlers/handlers.h"

#include "api/codec_blob.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__DeleteBlobRequest *request = (const Tavola__V1__DeleteBlobRequest *)ctx->request;

    out->kind = OPERATION_BLOB_DELETE;
    TRY(codec_blob_name_decode(request->name, out, err));
    return blob_condition_parse(codec_str(request->if_match), false, &out->in.blob.condition, err);
}

/* The reply has no fields. */
static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)ctx;
    (void)operation;
    (void)reply;
    (void)err;
    return STATUS_OK;
}

const struct method delete_blob_method = {
    .path = "/tavola.v1.BlobService/DeleteBlob",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_BLOB_DELETE,
    .request = &tavola__v1__delete_blob_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
