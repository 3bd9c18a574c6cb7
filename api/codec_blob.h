/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_blob.h - blobs.
 */
#ifndef API_CODEC_BLOB_H
#define API_CODEC_BLOB_H

#include "api/codec.h"
#include "domain/operations/operation.h"
#include "tavola/v1/blob_service.pb-c.h"

/* The write of an entity that is to hold the content of a put. */
struct blob_write {
    struct str table;
    struct write write;
    struct str property; /* that gets the reference */
};

/* The header of a put. */
struct blob_header {
    struct str name, content_type, upload_id;
    struct blob_condition condition;
    bool has_digest;
    struct blob_digest digest; /* of the whole content; if has_digest */
    int64_t size;              /* of the whole content; 0: not known */
    int64_t offset;            /* where a resumed upload goes on */
    struct blob_write *write;  /* NULL: none */
};

/*
 * Decode the header of a put; the texts are borrowed from the message, those of the write are in the arena.
 *
 * STATUS_INVALID  INVALID_INPUT, BLOB_TOO_LARGE; those of codec_write_decode
 */
MUST_USE enum status codec_blob_header_decode(
    const Tavola__V1__PutBlobHeader *header, struct arena *arena, struct blob_header *out, struct error *err);

/* Fill an operation with the write of an entity that holds the content. STATUS_INVALID: it is too large with it. */
MUST_USE enum status codec_blob_write_operation(
    const struct blob_write *write, const struct blob_id *content, struct operation *out, struct error *err);

/* Put the content of a reference into the operation. INVALID_INPUT. */
MUST_USE enum status codec_blob_reference_decode(
    ProtobufCBinaryData reference, struct operation *out, struct error *err);

/* Check the name of a request and put it into the operation. INVALID_INPUT. */
MUST_USE enum status codec_blob_name_decode(
    ProtobufCBinaryData name, struct operation *out, struct error *err);

/* Check an upload's id, which must not be empty, and put it into the operation. INVALID_INPUT. */
MUST_USE enum status codec_blob_upload_id_decode(
    ProtobufCBinaryData upload_id, struct operation *out, struct error *err);

Tavola__V1__Blob *codec_blob_message(const struct blob *blob, struct arena *arena);

#endif
