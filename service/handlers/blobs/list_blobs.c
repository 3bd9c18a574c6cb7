/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_blobs.c - BlobService.ListBlobs.
 */
#include "service/handlers/handlers.h"

#include "api/codec_blob.h"
#include "service/paging.h"

/* A page token continues only a list with the same prefix. */
static const char *list_name(struct call_ctx *ctx)
{
    const Tavola__V1__ListBlobsRequest *request = (const Tavola__V1__ListBlobsRequest *)ctx->request;

    return arena_format(ctx->arena, "blobs from %.*s", STR_ARG(codec_str(request->prefix))).data;
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ListBlobsRequest *request = (const Tavola__V1__ListBlobsRequest *)ctx->request;
    struct operation_blob *in = &out->in.blob;

    out->kind = OPERATION_BLOB_LIST;
    in->prefix = codec_str(request->prefix);
    if (blob_prefix_check(in->prefix, err) != STATUS_OK)
        return error_in_field(err, "prefix");
    return paging_read_list(ctx,
        &(struct paging_list){ list_name(ctx), request->page_size, request->page_token }, &in->limit,
        &in->after, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_blob *out = &operation->out.blob;

    for (size_t i = 0; i < out->count; i++)
        codec_pack(reply, 1, &codec_blob_message(&out->blobs[i], ctx->arena)->base);
    if (!out->more)
        return STATUS_OK;
    return paging_write_list(ctx, reply, 2, list_name(ctx), out->position, err);
}

const struct method list_blobs_method = {
    .path = "/tavola.v1.BlobService/ListBlobs",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_BLOB_LIST,
    .request = &tavola__v1__list_blobs_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
