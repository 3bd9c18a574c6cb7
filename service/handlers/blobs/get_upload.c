/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_upload.c - BlobService.GetUpload.
 */
#include "service/handlers/handlers.h"

#include "api/codec_blob.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__GetUploadRequest *request = (const Tavola__V1__GetUploadRequest *)ctx->request;

    out->kind = OPERATION_BLOB_UPLOAD_GET;
    return codec_blob_upload_id_decode(request->upload_id, out, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct blob_upload *upload = &operation->out.blob.upload;
    Tavola__V1__GetUploadResponse message = TAVOLA__V1__GET_UPLOAD_RESPONSE__INIT;

    (void)err;
    message.stored = upload->stored;
    message.complete = blob_content_is_complete(upload->state);
    message.kept_until = message.complete ? NULL : codec_timestamp(upload->kept_until, ctx->arena);
    codec_pack(reply, 0, &message.base);
    return STATUS_OK;
}

const struct method get_upload_method = {
    .path = "/tavola.v1.BlobService/GetUpload",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_BLOB_UPLOAD_GET,
    .request = &tavola__v1__get_upload_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
