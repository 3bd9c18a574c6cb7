/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_blob.c - BlobService.GetBlob: the description of a blob, then the chunks of a range, each in a message.
 *
 * The next chunk is read when the transport has taken the message with the chunk before, so a client that stops
 * reading holds one chunk.
 */
#include "api/codec_blob.h"
#include "base/wire.h"
#include "domain/blobs/blob_hash.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/handlers/handlers.h"
#include "service/stream.h"

enum { CONTENT = 2 };

struct get {
    struct operation_blob in;
    int64_t offset, length; /* as asked for */
    bool is_found;
    struct blob blob; /* its texts are gone after the first message */
    struct blob_span span;
    int64_t number;         /* of the next chunk */
    int64_t left;           /* bytes that have not been sent */
    struct blob_hash *hash; /* NULL: only a part was asked for */
};

static enum status decode_what(
    const Tavola__V1__GetBlobRequest *request, struct operation *out, struct error *err)
{
    if (request->reference.len == 0)
        return codec_blob_name_decode(request->name, out, err);
    if (request->name.len > 0 || request->if_match.len > 0)
        return reason_set(
            err, REASON_INVALID_INPUT, "a reference is of one content: name and if_match do not go with it");
    return codec_blob_reference_decode(request->reference, out, err);
}

static enum status read_request(struct call_ctx *ctx, struct error *err)
{
    const Tavola__V1__GetBlobRequest *request = (const Tavola__V1__GetBlobRequest *)ctx->request;
    struct get *get = ARENA_NEW(ctx->arena, struct get);
    struct operation named = { 0 };

    TRY(decode_what(request, &named, err));
    TRY(blob_condition_parse(codec_str(request->if_match), false, &named.in.blob.condition, err));
    if (request->offset < 0 || request->length < 0)
        return reason_set(err, REASON_INVALID_INPUT, "offset and length are not negative");
    get->in = named.in.blob;
    get->offset = request->offset;
    get->length = request->length;
    ctx->state = get;
    return STATUS_OK;
}

static enum status fill_operation(
    struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err)
{
    struct get *get = ctx->state;

    (void)step;
    out->kind = get->is_found ? OPERATION_BLOB_READ : OPERATION_BLOB_GET;
    out->in.blob = get->in;
    if (get->is_found)
        out->in.blob.content = get->blob.content;
    out->in.blob.number = get->number;
    return stream_admit(ctx, out, "get the rest of the blob from another server", err);
}

static enum status write_description(
    struct call_ctx *ctx, struct get *get, const struct blob *blob, enum stream_step *step, struct error *err)
{
    Tavola__V1__GetBlobResponse message = TAVOLA__V1__GET_BLOB_RESPONSE__INIT;

    TRY(blob_plan_range(blob->size, get->offset, get->length, &get->span, err));
    get->is_found = true;
    get->blob = *blob;
    get->number = get->span.first;
    get->left = get->span.length;
    if (get->left == blob->size)
        get->hash = blob_hash_new();
    message.blob = codec_blob_message(blob, ctx->arena);
    codec_pack(&ctx->reply, 0, &message.base);
    *step = get->left > 0 ? STREAM_SEND : STREAM_SEND_LAST;
    return STATUS_OK;
}

/* The part of the chunk that was asked for. */
static struct str part_of(const struct get *get, struct str chunk)
{
    struct str part = get->number == get->span.first ? str_from(chunk, (size_t)get->span.skip) : chunk;

    if ((int64_t)part.len > get->left)
        part.len = (size_t)get->left;
    return part;
}

static enum status check_whole(struct get *get, struct error *err)
{
    struct blob_digest digest;

    if (!get->hash)
        return STATUS_OK;
    digest = blob_hash_end(get->hash);
    if (blob_hash_equal(&digest, &get->blob.digest))
        return STATUS_OK;
    return reason_set(err, REASON_BLOB_DAMAGED, "the content of a blob does not have its SHA-256");
}

static enum status write_chunk(
    struct call_ctx *ctx, struct get *get, struct str chunk, enum stream_step *step, struct error *err)
{
    struct str part = part_of(get, chunk);

    if (get->hash)
        blob_hash_add(get->hash, part);
    get->left -= (int64_t)part.len;
    get->number++;
    if (get->left == 0)
        TRY(check_whole(get, err));
    else if (part.len == 0)
        return reason_set(err, REASON_BLOB_DAMAGED, "a chunk of a blob is shorter than it was");
    wire_write_bytes(&ctx->reply, CONTENT, part);
    atomic_fetch_add(&ctx->service->blob_bytes_out, (long long)part.len);
    *step = get->left > 0 ? STREAM_SEND : STREAM_SEND_LAST;
    return STATUS_OK;
}

static enum status write_message(
    struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err)
{
    struct get *get = ctx->state;

    if (operation->kind == OPERATION_BLOB_GET)
        return write_description(ctx, get, &operation->out.blob.blobs[0], step, err);
    return write_chunk(ctx, get, operation->out.blob.bytes, step, err);
}

static void release(struct call_ctx *ctx)
{
    struct get *get = ctx->state;

    blob_hash_free(get->hash);
}

static const struct stream_method stream = { .read_request = read_request,
    .fill_operation = fill_operation,
    .write_message = write_message,
    .release = release,
    .min_bytes = LIMIT_BLOB_GET_BYTES };

const struct method get_blob_method = {
    .path = "/tavola.v1.BlobService/GetBlob",
    .kind = RPC_SERVER_STREAM,
    .events = &stream_events,
    .operation = OPERATION_BLOB_READ,
    .request = &tavola__v1__get_blob_request__descriptor,
    .stream = &stream,
};
