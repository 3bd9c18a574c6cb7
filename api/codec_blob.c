/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_blob.c - see the header.
 */
#include "api/codec_blob.h"

#include <string.h>

#include "api/codec_write.h"
#include "base/wire.h"
#include "domain/blobs/blob_reference.h"
#include "domain/catalogue/table_name.h"
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

/* ---- the write of an entity ---- */

enum { MAX_WRITE_BYTES = 64 * 1024 };

/* A property list with the reference alone; checks the name of the property. */
static enum status reference_list(const struct blob_write *write, const struct blob_id *content,
    struct arena *arena, struct property_list *out, struct error *err)
{
    struct buf value, entry;

    buf_init(&value, arena);
    buf_init(&entry, arena);
    wire_write_bytes(&value, PROPERTY_STRING, blob_reference_format(content, arena));
    wire_write_bytes(&entry, 1, write->property);
    wire_write_bytes(&entry, 2, buf_str(&value));
    return property_list_parse(&(struct str){ entry.data, entry.len }, 1, &write->write.key, arena, out, err);
}

enum status codec_blob_write_operation(
    const struct blob_write *write, const struct blob_id *content, struct operation *out, struct error *err)
{
    struct write with_content = write->write;
    struct property_list reference;

    TRY(reference_list(write, content, out->arena, &reference, err));
    with_content.properties = property_list_merge(write->write.properties, reference, out->arena);
    TRY(property_list_check(with_content.properties, &with_content.key, err));
    codec_write_operation(out, &with_content);
    out->table = write->table;
    return STATUS_OK;
}

/* The message outlives the request in which it came. */
static enum status copy_operation(const Tavola__V1__BatchOperation *operation, struct arena *arena,
    Tavola__V1__BatchOperation **out, struct error *err)
{
    ProtobufCMessage *copy;
    struct buf bytes;

    buf_init(&bytes, arena);
    codec_pack(&bytes, 0, &operation->base);
    if (bytes.len > MAX_WRITE_BYTES)
        return reason_set(err, REASON_INVALID_INPUT,
            "write.operation has %zu bytes: together with a content an entity is written with at most %d; "
            "put the "
            "content alone and write the entity by itself",
            bytes.len, MAX_WRITE_BYTES);
    TRY(codec_unpack(&tavola__v1__batch_operation__descriptor, buf_str(&bytes), arena, &copy, err));
    *out = (Tavola__V1__BatchOperation *)copy;
    return STATUS_OK;
}

static enum status write_decode(
    const Tavola__V1__BlobWrite *message, struct arena *arena, struct blob_write **out, struct error *err)
{
    const struct blob_id none = { { 0 } };
    struct blob_write *write = ARENA_NEW(arena, struct blob_write);
    Tavola__V1__BatchOperation *operation = NULL;
    struct property_list reference;

    if (!message->operation)
        return codec_missing(err, "write.operation", "the write of the entity");
    write->table = arena_copy(arena, codec_str(message->table));
    write->property = arena_copy(arena, codec_str(message->property));
    if (table_name_check(write->table, err) != STATUS_OK)
        return error_in_field(err, "write.table");
    TRY(copy_operation(message->operation, arena, &operation, err));
    TRY(codec_write_batch_operation_decode(operation, arena, &write->write, err));
    if (write->write.kind == WRITE_DELETE)
        return reason_set(err, REASON_INVALID_INPUT, "write.operation is a delete, which holds no content");
    if (reference_list(write, &none, arena, &reference, err) != STATUS_OK)
        return error_in_field(err, "write.property");
    *out = write;
    return STATUS_OK;
}

/* ---- headers ---- */

/* Only a content without a name is for entities; it has no condition, since nothing is replaced. */
static enum status check_nameless(const Tavola__V1__PutBlobHeader *header, struct str name, struct error *err)
{
    if (name.len > 0 && header->write)
        return reason_set(err, REASON_INVALID_INPUT,
            "write is for a content without a name: a content belongs to a name or to entities");
    if (name.len == 0 && (header->if_match.len > 0 || header->if_absent))
        return reason_set(err, REASON_INVALID_INPUT, "if_match and if_absent are for blobs with a name");
    return STATUS_OK;
}

enum status codec_blob_header_decode(
    const Tavola__V1__PutBlobHeader *header, struct arena *arena, struct blob_header *out, struct error *err)
{
    struct blob_header read = {
        .name = codec_str(header->name),
        .content_type = codec_str(header->content_type),
        .upload_id = codec_str(header->upload_id),
        .size = header->size,
        .offset = header->offset,
    };

    TRY(check_nameless(header, read.name, err));
    if (read.name.len > 0 && blob_name_check(read.name, err) != STATUS_OK)
        return error_in_field(err, "name");
    if (header->write)
        TRY(write_decode(header->write, arena, &read.write, err));
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

enum status codec_blob_reference_decode(
    ProtobufCBinaryData reference, struct operation *out, struct error *err)
{
    out->in.blob.is_reference = blob_reference_parse(codec_str(reference), &out->in.blob.content);
    if (out->in.blob.is_reference)
        return STATUS_OK;
    (void)reason_set(err, REASON_INVALID_INPUT,
        "a reference of a blob is tavola-blob: with 32 lower-case hexadecimal digits behind it");
    return error_in_field(err, "reference");
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
    if (blob->name.len == 0)
        out->reference = codec_bytes(blob_reference_format(&blob->content, arena));
    return out;
}
