/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob.c - blobs as streams: the bytes of a put come from a function of the caller, those of a get go to one.
 *
 * A stream is not repeated, since its bytes are gone: the caller begins again, or continues an upload.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/codec.h"
#include "base/digits.h"
#include "base/wire.h"
#include "client/lib/call_error.h"
#include "client/lib/session.h"
#include "tavola/v1/blob_service.pb-c.h"

enum { CONTENT_FIELD = 2, PIECE_BYTES = 256 * 1024, SHA256_BYTES = 32 };

static struct str text_of(const char *text)
{
    return str_of(text ? text : "");
}

static void copy_blob(const Tavola__V1__Blob *blob, struct tavola_blob *out)
{
    struct tavola_blob read = { .size = blob->size };

    if (blob->sha256.len == SHA256_BYTES)
        digits_encode_hex(codec_str(blob->sha256), read.sha256);
    snprintf(read.etag, sizeof(read.etag), "%.*s", STR_ARG(codec_str(blob->etag)));
    *out = read;
}

static enum tavola_code open_stream(
    struct tavola *client, const char *path, struct rpc_stream **out, struct tavola_error *error)
{
    struct error err = { 0 };

    (void)token_source_prepare(&client->tokens);
    return rpc_stream_open(client->channel, path, 0, out, &err) == STATUS_OK ? TAVOLA_OK
                                                                             : call_error_of(&err, error);
}

/* End the stream. If the caller has not set an error, the status of the stream decides. */
static enum tavola_code end_stream(struct rpc_stream *stream, struct arena *arena, struct tavola_error *error)
{
    struct rpc_status status;

    rpc_stream_finish(stream, arena, &status);
    if (error->code != TAVOLA_OK)
        return error->code;
    return call_error_of_status(&status, arena, error);
}

/* ---- put ---- */

static bool send_header(struct rpc_stream *stream, const struct tavola_blob_put *put)
{
    Tavola__V1__PutBlobHeader header = TAVOLA__V1__PUT_BLOB_HEADER__INIT;
    Tavola__V1__PutBlobRequest request = TAVOLA__V1__PUT_BLOB_REQUEST__INIT;
    struct buf message;
    bool sent;

    header.name = codec_bytes(text_of(put->name));
    header.content_type = codec_bytes(text_of(put->content_type));
    header.if_match = codec_bytes(text_of(put->if_match));
    header.if_absent = put->if_absent;
    header.upload_id = codec_bytes(text_of(put->upload_id));
    header.offset = put->offset;
    request.part_case = TAVOLA__V1__PUT_BLOB_REQUEST__PART_HEADER;
    request.header = &header;
    buf_init(&message, NULL);
    codec_pack(&message, 0, &request.base);
    sent = rpc_stream_send(stream, buf_str(&message));
    buf_cleanup(&message);
    return sent;
}

static bool send_end(struct rpc_stream *stream)
{
    Tavola__V1__PutBlobRequest request = TAVOLA__V1__PUT_BLOB_REQUEST__INIT;
    struct buf message;
    bool sent;

    request.end = true;
    buf_init(&message, NULL);
    codec_pack(&message, 0, &request.base);
    sent = rpc_stream_send(stream, buf_str(&message));
    buf_cleanup(&message);
    return sent;
}

/* Send all bytes. false: the stream has ended, or the caller has none to give. */
static bool send_content(
    struct rpc_stream *stream, const struct tavola_blob_put *put, struct tavola_error *error)
{
    char *piece = xmalloc(PIECE_BYTES);
    struct buf message;
    int64_t count;
    bool sent = true;

    buf_init(&message, NULL);
    while (sent && (count = put->read(put->context, piece, PIECE_BYTES)) > 0) {
        message.len = 0;
        wire_write_bytes(&message, CONTENT_FIELD, str_of_bytes(piece, (size_t)count));
        sent = rpc_stream_send(stream, buf_str(&message));
    }
    if (sent && count < 0)
        (void)call_error_set(error, TAVOLA_CANCELLED, "the content cannot be read; nothing was put");
    buf_cleanup(&message);
    free(piece);
    return sent && error->code == TAVOLA_OK;
}

static void receive_blob(
    struct rpc_stream *stream, struct arena *arena, struct tavola_blob *out, struct tavola_error *error)
{
    const Tavola__V1__PutBlobResponse *answer;
    const void *reply;
    struct str bytes;

    if (!rpc_stream_receive(stream, arena, &bytes))
        return;
    if (session_read(&tavola__v1__put_blob_response__descriptor, bytes, arena, &reply, error) != TAVOLA_OK)
        return;
    answer = reply;
    if (answer->blob)
        copy_blob(answer->blob, out);
    (void)rpc_stream_receive(stream, arena, &bytes); /* the status follows */
}

enum tavola_code tavola_put_blob(struct tavola *client, const struct tavola_blob_put *put,
    struct tavola_blob *out, struct tavola_error *error)
{
    struct tavola_blob ignored;
    struct tavola_error own;
    struct rpc_stream *stream;
    struct arena arena;

    error = call_error_begin(error, &own);
    if (open_stream(client, "/tavola.v1.BlobService/PutBlob", &stream, error) != TAVOLA_OK)
        return error->code;
    arena_init(&arena);
    if (send_header(stream, put) && send_content(stream, put, error) && send_end(stream))
        rpc_stream_half_close(stream);
    if (error->code == TAVOLA_OK)
        receive_blob(stream, &arena, out ? out : &ignored, error);
    (void)end_stream(stream, &arena, error);
    arena_cleanup(&arena);
    return error->code;
}

/* ---- get ---- */

static bool send_request(struct rpc_stream *stream, const struct tavola_blob_get *get)
{
    Tavola__V1__GetBlobRequest request = TAVOLA__V1__GET_BLOB_REQUEST__INIT;
    struct buf message;
    bool sent;

    request.name = codec_bytes(text_of(get->name));
    request.if_match = codec_bytes(text_of(get->if_match));
    request.reference = codec_bytes(text_of(get->reference));
    request.offset = get->offset;
    request.length = get->length;
    buf_init(&message, NULL);
    codec_pack(&message, 0, &request.base);
    sent = rpc_stream_send(stream, buf_str(&message));
    if (sent)
        rpc_stream_half_close(stream);
    buf_cleanup(&message);
    return sent;
}

/* Take one message. false: the caller does not take its bytes. */
static bool take_message(const struct tavola_blob_get *get, struct str bytes, struct arena *arena,
    struct tavola_blob *out, struct tavola_error *error)
{
    const Tavola__V1__GetBlobResponse *answer;
    const void *reply;

    if (session_read(&tavola__v1__get_blob_response__descriptor, bytes, arena, &reply, error) != TAVOLA_OK)
        return false;
    answer = reply;
    if (answer->blob)
        copy_blob(answer->blob, out);
    if (answer->content.len == 0 || get->write(get->context, answer->content.data, answer->content.len))
        return true;
    (void)call_error_set(error, TAVOLA_CANCELLED, "the content cannot be written");
    return false;
}

enum tavola_code tavola_get_blob(struct tavola *client, const struct tavola_blob_get *get,
    struct tavola_blob *out, struct tavola_error *error)
{
    struct tavola_blob ignored;
    struct tavola_error own;
    struct rpc_stream *stream;
    struct arena arena;
    struct str bytes;
    bool goes_on;

    error = call_error_begin(error, &own);
    if (open_stream(client, "/tavola.v1.BlobService/GetBlob", &stream, error) != TAVOLA_OK)
        return error->code;
    arena_init(&arena);
    goes_on = send_request(stream, get);
    while (goes_on && rpc_stream_receive(stream, &arena, &bytes)) {
        goes_on = take_message(get, bytes, &arena, out ? out : &ignored, error);
        arena_cleanup(&arena);
    }
    (void)end_stream(stream, &arena, error);
    arena_cleanup(&arena);
    return error->code;
}
