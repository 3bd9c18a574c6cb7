/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put_blob.c - BlobService.PutBlob: a content that arrives in messages of any size.
 *
 *   BEGIN ---> CHECK ---> WRITE ---> (the message with `end`) ---> commit ---> ENTITY
 *
 *   BEGIN   the content does not exist yet. An upload with an id is begun at once; any other content with its first
 *           chunk, so a small blob is put with the commit alone
 *   CHECK   an upload is continued: its stored chunks are read once more, since the SHA-256 of the whole content
 *           needs them, and so they are proven too
 *   WRITE   each full chunk is appended. The last bytes, less than a chunk, are stored with the commit
 *   ENTITY  of a content that is put together with an entity: it is complete, and the entity's write publishes it
 *
 * The call holds one message and one chunk.
 */
#include <string.h>

#include "api/codec_blob.h"
#include "api/codec_write.h"
#include "base/random.h"
#include "domain/blobs/blob_hash.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/consistency.h"
#include "service/handlers/handlers.h"
#include "service/stream.h"

enum put_phase { PUT_BEGIN, PUT_CHECK, PUT_WRITE, PUT_ENTITY };

enum { RESULT = 2 };

struct put {
    struct blob_header header;
    struct blob_id content;
    int64_t writer;
    enum put_phase phase;
    bool has_ended;         /* the client has sent everything, and said so */
    bool is_cut;            /* the stream has ended before that */
    bool is_admitted;       /* the caller may put blobs: checked before any content is read */
    int64_t stored;         /* bytes in the store */
    int64_t checked;        /* CHECK: bytes that have been read once more */
    struct blob_hash *hash; /* of the stored bytes */

    struct str rest;    /* of the current message's content: not stored yet */
    struct buf pending; /* the beginning of a chunk whose end has not arrived */
    struct blob blob;   /* ENTITY: the content, whose write follows; its texts are the header's */
};

static struct blob_id new_content_id(void)
{
    uint64_t bits[2] = { random_bits(), random_bits() };
    struct blob_id out;

    _Static_assert(sizeof(bits) == sizeof(out.bytes), "all bits of an id are random");
    memcpy(out.bytes, bits, sizeof(bits));
    return out;
}

/* The header's texts outlive its message. */
static void keep_header(struct call_ctx *ctx, struct blob_header *header)
{
    header->name = arena_copy(ctx->arena, header->name);
    header->content_type = arena_copy(ctx->arena, header->content_type);
    header->upload_id = arena_copy(ctx->arena, header->upload_id);
}

static enum status read_header(
    struct call_ctx *ctx, const Tavola__V1__PutBlobRequest *request, struct error *err)
{
    struct blob_header header;
    struct put *put;

    if (request->part_case != TAVOLA__V1__PUT_BLOB_REQUEST__PART_HEADER)
        return codec_missing(err, "header", "the first message names the blob");
    TRY(codec_blob_header_decode(request->header, ctx->arena, &header, err));
    put = ARENA_NEW(ctx->arena, struct put);
    keep_header(ctx, &header);
    put->header = header;
    put->content = new_content_id();
    put->writer = (int64_t)random_bits();
    put->has_ended = request->end;
    put->hash = blob_hash_new();
    buf_init(&put->pending, NULL);
    ctx->state = put;
    return STATUS_OK;
}

static enum status read_request(struct call_ctx *ctx, struct error *err)
{
    const Tavola__V1__PutBlobRequest *request = (const Tavola__V1__PutBlobRequest *)ctx->request;
    struct put *put = ctx->state;

    if (!put)
        return read_header(ctx, request, err);
    if (request->part_case == TAVOLA__V1__PUT_BLOB_REQUEST__PART_HEADER)
        return reason_set(err, REASON_INVALID_INPUT, "a put has one header, in its first message");
    put->has_ended = request->end;
    put->rest = request->part_case == TAVOLA__V1__PUT_BLOB_REQUEST__PART_CONTENT ? codec_str(request->content)
                                                                                 : STR_EMPTY;
    if (put->rest.len > LIMIT_BLOB_MESSAGE_BYTES)
        return reason_set(err, REASON_INVALID_INPUT,
            "content has %zu bytes: a message of a put has at most %d", put->rest.len,
            LIMIT_BLOB_MESSAGE_BYTES);
    atomic_fetch_add(&ctx->service->blob_bytes_in, (long long)put->rest.len);
    return blob_plan_size(put->stored + (int64_t)(put->pending.len + put->rest.len), err);
}

static void end_requests(struct call_ctx *ctx)
{
    struct put *put = ctx->state;

    if (put)
        put->is_cut = true;
}

/* Take the next full chunk of what has arrived. false: there is none; `pending` has all bytes. */
static bool take_chunk(struct put *put, struct str *out)
{
    size_t wanted = LIMIT_BLOB_CHUNK_BYTES - put->pending.len;

    if (put->pending.len == 0 && put->rest.len >= LIMIT_BLOB_CHUNK_BYTES) {
        *out = str_of_bytes(put->rest.data, LIMIT_BLOB_CHUNK_BYTES);
        return true;
    }
    if (wanted > put->rest.len)
        wanted = put->rest.len;
    buf_append(&put->pending, str_of_bytes(put->rest.data, wanted));
    put->rest = str_from(put->rest, wanted);
    *out = buf_str(&put->pending);
    return out->len == LIMIT_BLOB_CHUNK_BYTES;
}

/* The chunk that take_chunk returned is stored. */
static void drop_chunk(struct put *put)
{
    if (put->pending.len > 0)
        put->pending.len = 0;
    else
        put->rest = str_from(put->rest, LIMIT_BLOB_CHUNK_BYTES);
}

static enum status check_content(
    const struct put *put, int64_t size, const struct blob_digest *digest, struct error *err)
{
    const struct blob_header *header = &put->header;

    if (header->size > 0 && header->size != size) {
        (void)reason_set(err, REASON_BLOB_DIGEST_MISMATCH,
            "the header says %lld bytes, but %lld have arrived; nothing was put", (long long)header->size,
            (long long)size);
        return err->status;
    }
    if (header->has_digest && !blob_hash_equal(&header->digest, digest))
        return reason_set(err, REASON_BLOB_DIGEST_MISMATCH,
            "the content that arrived has another SHA-256 than the header says; nothing was put");
    return STATUS_OK;
}

static enum status fill_commit(struct put *put, struct operation *out, struct error *err)
{
    struct operation_blob *in = &out->in.blob;

    out->kind = OPERATION_BLOB_COMMIT;
    in->bytes = buf_str(&put->pending);
    in->content_type = put->header.content_type;
    in->is_new = put->phase == PUT_BEGIN;
    blob_hash_add(put->hash, in->bytes);
    in->digest = blob_hash_end(put->hash);
    return check_content(put, put->stored + (int64_t)put->pending.len, &in->digest, err);
}

static enum status fill_write(
    struct put *put, struct operation *out, enum stream_step *step, struct error *err)
{
    if (take_chunk(put, &out->in.blob.bytes)) {
        out->kind = put->phase == PUT_BEGIN ? OPERATION_BLOB_BEGIN : OPERATION_BLOB_APPEND;
        return STATUS_OK;
    }
    if (put->has_ended)
        return fill_commit(put, out, err);
    if (put->is_cut)
        return reason_set(err, REASON_INVALID_INPUT,
            "the stream ended before a message with `end`, so the content may be cut; nothing was put");
    *step = STREAM_READ;
    return STATUS_OK;
}

static enum status fill_operation(
    struct call_ctx *ctx, struct operation *out, enum stream_step *step, struct error *err)
{
    struct put *put = ctx->state;

    if (!put)
        return codec_missing(err, "header", "the first message names the blob");
    if (put->phase == PUT_ENTITY) {
        TRY(codec_blob_write_operation(put->header.write, &put->blob.content, out, err));
        return stream_admit(ctx, out, "put the blob again at another server", err);
    }
    out->in.blob = (struct operation_blob){ .name = put->header.name,
        .condition = put->header.condition,
        .content = put->content,
        .writer = put->writer,
        .upload_id = put->header.upload_id,
        .offset = put->phase == PUT_BEGIN ? put->header.offset : put->stored };
    if (!put->is_admitted) {
        out->kind = OPERATION_BLOB_BEGIN;
        TRY(stream_admit(ctx, out, "put the blob at another server", err));
        put->is_admitted = true;
    }
    if (put->phase == PUT_BEGIN && put->header.upload_id.len > 0) {
        out->kind = OPERATION_BLOB_BEGIN;
    } else if (put->phase == PUT_CHECK) {
        out->kind = OPERATION_BLOB_READ;
        out->in.blob.number = put->checked / LIMIT_BLOB_CHUNK_BYTES;
    } else {
        TRY(fill_write(put, out, step, err));
    }
    if (*step == STREAM_READ)
        return STATUS_OK;
    return stream_admit(ctx, out, "put the blob again at another server", err);
}

static enum stream_step answer_blob(struct call_ctx *ctx, const struct blob *blob)
{
    Tavola__V1__PutBlobResponse message = TAVOLA__V1__PUT_BLOB_RESPONSE__INIT;

    message.blob = codec_blob_message(blob, ctx->arena);
    codec_pack(&ctx->reply, 0, &message.base);
    return STREAM_SEND_LAST;
}

/* The content is complete: answer, or write the entity first. */
static enum stream_step end_content(struct call_ctx *ctx, const struct blob *blob)
{
    struct put *put = ctx->state;

    if (!put->header.write)
        return answer_blob(ctx, blob);
    put->blob = *blob;
    put->blob.name = STR_EMPTY;
    put->blob.content_type = put->header.content_type;
    put->phase = PUT_ENTITY;
    return STREAM_NEXT;
}

/* If an entity holds the content of a complete upload, an earlier call has written it. */
static enum stream_step end_upload(struct call_ctx *ctx, const struct outcome_blob *out)
{
    if (out->upload.state == BLOB_CONTENT_CURRENT)
        return answer_blob(ctx, &out->blobs[0]);
    return end_content(ctx, &out->blobs[0]);
}

static enum status answer_entity(
    struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err)
{
    struct put *put = ctx->state;
    struct str token;

    TRY(consistency_write(ctx->service, operation->out.write.left_open, ctx->arena, &token, err));
    *step = answer_blob(ctx, &put->blob);
    codec_write_result(&ctx->reply, RESULT, &operation->out.write.results[0], token, false);
    return STATUS_OK;
}

static void note_begun(struct put *put, const struct blob_upload *upload)
{
    put->content = upload->content;
    put->stored = upload->stored;
    put->phase = put->stored > 0 ? PUT_CHECK : PUT_WRITE;
}

static void note_checked(struct put *put, struct str bytes)
{
    blob_hash_add(put->hash, bytes);
    put->checked += (int64_t)bytes.len;
    if (put->checked >= put->stored)
        put->phase = PUT_WRITE;
}

static void note_appended(struct put *put, struct str bytes)
{
    blob_hash_add(put->hash, bytes);
    put->stored += (int64_t)bytes.len;
    drop_chunk(put);
}

/* Called by the thread of the store that has run the operation, so the hashing is done there. */
static enum status write_message(
    struct call_ctx *ctx, const struct operation *operation, enum stream_step *step, struct error *err)
{
    const struct outcome_blob *out = &operation->out.blob;
    struct put *put = ctx->state;

    *step = STREAM_NEXT;
    switch ((int)operation->kind) {
    case OPERATION_BLOB_BEGIN:
        if (out->count > 0)
            *step = end_upload(ctx, out);
        else
            note_begun(put, &out->upload);
        break;
    case OPERATION_BLOB_READ:
        note_checked(put, out->bytes);
        break;
    case OPERATION_BLOB_APPEND:
        note_appended(put, operation->in.blob.bytes);
        break;
    case OPERATION_WRITE:
        return answer_entity(ctx, operation, step, err);
    default:
        *step = end_content(ctx, &out->blobs[0]);
        break;
    }
    return STATUS_OK;
}

static void release(struct call_ctx *ctx)
{
    struct put *put = ctx->state;

    blob_hash_free(put->hash);
    buf_cleanup(&put->pending);
}

static const struct stream_method stream = { .read_request = read_request,
    .fill_operation = fill_operation,
    .write_message = write_message,
    .end_requests = end_requests,
    .release = release,
    .writes_entities = true,
    .min_bytes = LIMIT_BLOB_PUT_BYTES };

const struct method put_blob_method = {
    .path = "/tavola.v1.BlobService/PutBlob",
    .kind = RPC_CLIENT_STREAM,
    .events = &stream_events,
    .operation = OPERATION_BLOB_APPEND,
    .request = &tavola__v1__put_blob_request__descriptor,
    .stream = &stream,
};
