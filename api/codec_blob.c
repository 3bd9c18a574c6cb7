/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_blob.c - see the header.
 */
#include "api/codec_blob.h"

#include <string.h>

#include "domain/limits.h"
#include "domain/reason.h"

static enum status check_upload_id(struct str id, struct error *err)
{
    bool fits = id.len <= LIMIT_UPLOAD_ID_BYTES;

    for (size_t i = 0; fits && i < id.len; i++)
        fits = id.data[i] >= ' ' && id.data[i] <= '~';
    if (fits)
        return STATUS_OK;
    (void)reason_set(
        err, REASON_INVALID_INPUT, "upload_id has 1 to %d printable ASCII characters", LIMIT_UPLOAD_ID_BYTES);
    return error_in_field(err, "upload_id");
}

static enum status decode_digest(
    ProtobufCBinaryData sha256, bool *has, struct blob_digest *out, struct error *err)
{
    *has = sha256.len > 0;
    if (sha256.len == sizeof(out->bytes))
        memcpy(out->bytes, sha256.data, sizeof(out->bytes));
    if (!*has || sha256.len == sizeof(out->bytes))
        return STATUS_OK;
    (void)reason_set(
        err, REASON_INVALID_INPUT, "sha256 has %d bytes, this one has %zu", BLOB_DIGEST_BYTES, sha256.len);
    return error_in_field(err, "sha256");
}

static enum status check_offset(const struct blob_header *header, struct error *err)
{
    if (header->offset < 0 || (header->offset > 0 && header->upload_id.len == 0)) {
        (void)reason_set(err, REASON_INVALID_INPUT,
            "offset is not negative, and only an upload with an upload_id continues behind 0");
        return error_in_field(err, "offset");
    }
    return STATUS_OK;
}

static enum status check_size(int64_t size, struct error *err)
{
    if (size < 0) {
        (void)reason_set(err, REASON_INVALID_INPUT, "size is negative");
        return error_in_field(err, "size");
    }
    return blob_plan_size(size, err);
}

enum status codec_blob_header_decode(
    const Tavola__V1__PutBlobHeader *header, struct blob_header *out, struct error *err)
{
    struct blob_header read = {
        .name = codec_str(header->name),
        .content_type = codec_str(header->content_type),
        .upload_id = codec_str(header->upload_id),
        .size = header->size,
        .offset = header->offset,
    };

    if (blob_name_check(read.name, err) != STATUS_OK)
        return error_in_field(err, "name");
    if (blob_content_type_check(read.content_type, err) != STATUS_OK)
        return error_in_field(err, "content_type");
    TRY(check_upload_id(read.upload_id, err));
    TRY(check_offset(&read, err));
    TRY(check_size(read.size, err));
    TRY(decode_digest(header->sha256, &read.has_digest, &read.digest, err));
    TRY(blob_condition_parse(codec_str(header->if_match), header->if_absent, &read.condition, err));
    *out = read;
    return STATUS_OK;
}

enum status codec_blob_name_decode(ProtobufCBinaryData name, struct operation *out, struct error *err)
{
    out->in.blob.name = codec_str(name);
    if (blob_name_check(out->in.blob.name, err) != STATUS_OK)
        return error_in_field(err, "name");
    return STATUS_OK;
}

enum status codec_blob_upload_id_decode(
    ProtobufCBinaryData upload_id, struct operation *out, struct error *err)
{
    if (upload_id.len == 0)
        return codec_missing(err, "upload_id", "the id that the put was given");
    out->in.blob.upload_id = codec_str(upload_id);
    return check_upload_id(out->in.blob.upload_id, err);
}

Tavola__V1__Blob *codec_blob_message(const struct blob *blob, struct arena *arena)
{
    Tavola__V1__Blob *out = ARENA_NEW(arena, Tavola__V1__Blob);

    tavola__v1__blob__init(out);
    out->name = codec_bytes(blob->name);
    out->size = blob->size;
    out->content_type = codec_bytes(blob->content_type);
    out->sha256 = codec_bytes(blob_digest_str(&blob->digest));
    out->etag = codec_bytes(blob_etag_format(&blob->content, arena));
    out->created = codec_timestamp(blob->created, arena);
    return out;
}
