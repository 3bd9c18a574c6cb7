/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_record.c - a response is a message in the wire format behind one version byte: either a result for
 * every write, or the error with its metadata and the entity that rides along.
 */
#include "domain/writes/request_record.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/wire.h"
#include "domain/reason.h"

enum { VERSION = 1 };

enum response_field {
    RESPONSE_RESULT = 1,
    RESPONSE_REASON,
    RESPONSE_MESSAGE,
    RESPONSE_META,
    RESPONSE_CURRENT,
    RESPONSE_LEFT_OPEN,
};

enum current_field {
    CURRENT_PARTITION = 1,
    CURRENT_ROW,
    CURRENT_TABLE_ID,
    CURRENT_VERSION,
    CURRENT_TIMESTAMP,
    CURRENT_PROPERTIES,
    CURRENT_EXPIRES,
};

enum result_field {
    RESULT_TABLE_ID = 1,
    RESULT_VERSION,
    RESULT_TIMESTAMP,
    RESULT_KEY, /* written if the etag has it, so that an answer from before stays as it was */
};

enum meta_field {
    META_KEY = 1,
    META_VALUE,
};

/* ---- digests ---- */

enum request_field {
    REQUEST_TABLE = 1,
    REQUEST_IS_GROUP,
    REQUEST_WRITE,
};

enum write_field {
    FIELD_KIND = 1,
    FIELD_PARTITION,
    FIELD_ROW,
    FIELD_PROPERTIES,
    FIELD_CONDITION,
    FIELD_ETAG_TABLE,
    FIELD_ETAG_VERSION,
    FIELD_CONDITION_TEXT,
    FIELD_EXPIRES,
    FIELD_ETAG_KEY, /* written if there is one: requests from before keep their digest */
};

static void add_write(struct buf *out, struct buf *scratch, const struct write *write)
{
    scratch->len = 0;
    wire_write_scalar(scratch, FIELD_KIND, (uint64_t)write->kind);
    wire_write_bytes(scratch, FIELD_PARTITION, write->key.partition);
    wire_write_bytes(scratch, FIELD_ROW, write->key.row);
    wire_write_bytes(scratch, FIELD_PROPERTIES, write->properties.bytes);
    wire_write_scalar(scratch, FIELD_CONDITION, (uint64_t)write->condition.kind);
    wire_write_scalar(scratch, FIELD_ETAG_TABLE, wire_zigzag(write->condition.etag.table_id));
    wire_write_scalar(scratch, FIELD_ETAG_VERSION, wire_zigzag(write->condition.etag.version));
    wire_write_bytes(scratch, FIELD_CONDITION_TEXT, write->condition.text);
    wire_write_scalar(scratch, FIELD_EXPIRES, (uint64_t)write->expires);
    if (write->condition.etag.key != 0)
        wire_write_scalar(scratch, FIELD_ETAG_KEY, write->condition.etag.key);
    wire_write_bytes(out, REQUEST_WRITE, buf_str(scratch));
}

struct str request_record_digest(const struct operation *operation, int64_t table_id, struct arena *arena)
{
    const struct operation_write *in = &operation->in.write;
    unsigned char *digest = arena_alloc(arena, REQUEST_DIGEST_BYTES);
    struct buf content, scratch;

    buf_init(&content, NULL);
    buf_init(&scratch, NULL);
    wire_write_scalar(&content, REQUEST_TABLE, (uint64_t)table_id);
    wire_write_scalar(&content, REQUEST_IS_GROUP, in->is_group);
    for (size_t i = 0; i < in->count; i++)
        add_write(&content, &scratch, &in->writes[i]);
    if (EVP_Digest(content.data, content.len, digest, NULL, EVP_sha256(), NULL) != 1)
        abort(); /* it has no other failure than memory */
    buf_cleanup(&scratch);
    buf_cleanup(&content);
    return str_of_bytes(digest, REQUEST_DIGEST_BYTES);
}

/* ---- responses ---- */

static void add_result(struct buf *out, const struct write_result *result)
{
    char bytes[64];
    struct buf item = { .data = bytes, .capacity = sizeof(bytes) };

    wire_write_scalar(&item, RESULT_TABLE_ID, (uint64_t)result->etag.table_id);
    wire_write_scalar(&item, RESULT_VERSION, (uint64_t)result->etag.version);
    wire_write_scalar(&item, RESULT_TIMESTAMP, (uint64_t)result->timestamp);
    if (result->etag.key != 0)
        wire_write_scalar(&item, RESULT_KEY, result->etag.key);
    wire_write_bytes(out, RESPONSE_RESULT, buf_str(&item));
}

static void add_error(struct buf *out, const struct error *err, struct arena *arena)
{
    wire_write_bytes(out, RESPONSE_REASON, str_of(err->reason));
    wire_write_bytes(out, RESPONSE_MESSAGE, str_of(err->message));
    for (size_t i = 0; i < err->meta_count; i++) {
        struct buf pair;

        buf_init(&pair, arena);
        wire_write_bytes(&pair, META_KEY, str_of(err->meta[i].key));
        wire_write_bytes(&pair, META_VALUE, str_of(err->meta[i].value));
        wire_write_bytes(out, RESPONSE_META, buf_str(&pair));
    }
}

static void add_current(struct buf *out, const struct entity *current, struct arena *arena)
{
    struct buf item;

    if (!current)
        return;
    buf_init(&item, arena);
    wire_write_bytes(&item, CURRENT_PARTITION, current->key.partition);
    wire_write_bytes(&item, CURRENT_ROW, current->key.row);
    wire_write_scalar(&item, CURRENT_TABLE_ID, (uint64_t)current->etag.table_id);
    wire_write_scalar(&item, CURRENT_VERSION, (uint64_t)current->etag.version);
    wire_write_scalar(&item, CURRENT_TIMESTAMP, (uint64_t)current->timestamp);
    wire_write_bytes(&item, CURRENT_PROPERTIES, current->properties.bytes);
    wire_write_scalar(&item, CURRENT_EXPIRES, (uint64_t)current->expires);
    wire_write_bytes(out, RESPONSE_CURRENT, buf_str(&item));
}

struct str request_record_response(const struct operation *operation, struct arena *arena)
{
    const struct operation_write *in = &operation->in.write;
    struct buf out;

    assert(in->atomic);
    buf_init(&out, arena);
    buf_append_byte(&out, VERSION);
    if (operation->error) {
        add_error(&out, operation->error, arena);
        add_current(&out, operation->out.write.current, arena);
    }
    for (size_t i = 0; !operation->error && i < in->count; i++)
        add_result(&out, &operation->out.write.results[i]);
    if (!operation->error && operation->out.write.left_open)
        wire_write_bytes(&out, RESPONSE_LEFT_OPEN, consistency_encode(operation->out.write.left_open, arena));
    return buf_str(&out);
}

/* ---- answers ---- */

static bool read_result(struct str bytes, struct write_result *out)
{
    struct wire_field field;
    enum wire_result result;

    while ((result = wire_read_field(&bytes, &field)) == WIRE_FIELD) {
        switch ((enum result_field)field.number) {
        case RESULT_TABLE_ID:
            out->etag.table_id = (int64_t)field.scalar;
            break;
        case RESULT_VERSION:
            out->etag.version = (int64_t)field.scalar;
            break;
        case RESULT_TIMESTAMP:
            out->timestamp = (int64_t)field.scalar;
            break;
        case RESULT_KEY:
            out->etag.key = (uint32_t)field.scalar;
            break;
        }
    }
    return result == WIRE_END;
}

static bool read_meta(struct str bytes, struct arena *arena, struct error *err)
{
    struct str key = STR_EMPTY, value = STR_EMPTY;
    struct wire_field field;
    enum wire_result result;

    while ((result = wire_read_field(&bytes, &field)) == WIRE_FIELD) {
        if (field.number == META_KEY)
            key = field.bytes;
        else if (field.number == META_VALUE)
            value = field.bytes;
    }
    error_add_meta(err, arena_copy(arena, key).data, value);
    return result == WIRE_END;
}

static bool read_current(struct str bytes, struct arena *arena, struct outcome_write *out)
{
    struct entity *entity = ARENA_NEW(arena, struct entity);
    struct wire_field field;
    enum wire_result result;

    while ((result = wire_read_field(&bytes, &field)) == WIRE_FIELD) {
        switch ((enum current_field)field.number) {
        case CURRENT_PARTITION:
            entity->key.partition = arena_copy(arena, field.bytes);
            break;
        case CURRENT_ROW:
            entity->key.row = arena_copy(arena, field.bytes);
            break;
        case CURRENT_TABLE_ID:
            entity->etag.table_id = (int64_t)field.scalar;
            break;
        case CURRENT_VERSION:
            entity->etag.version = (int64_t)field.scalar;
            break;
        case CURRENT_TIMESTAMP:
            entity->timestamp = (int64_t)field.scalar;
            break;
        case CURRENT_PROPERTIES:
            entity->properties.bytes = arena_copy(arena, field.bytes);
            break;
        case CURRENT_EXPIRES:
            entity->expires = (int64_t)field.scalar;
            break;
        }
    }
    out->current = entity;
    return result == WIRE_END;
}

static bool read_left_open(struct str bytes, struct arena *arena, struct outcome_write *out)
{
    struct consistency *left_open = ARENA_NEW(arena, struct consistency);

    out->left_open = left_open;
    return consistency_decode(arena_copy(arena, bytes), arena, left_open);
}

/* The reason comes before message and metadata. */
static bool read_error(
    const struct wire_field *field, struct arena *arena, struct outcome_write *out, struct error *err)
{
    const struct reason_info *info;
    const char *reason = err->reason;

    switch ((enum response_field)field->number) {
    case RESPONSE_REASON:
        info = reason_find(arena_copy(arena, field->bytes).data);
        if (!info)
            return false;
        err->status = info->status;
        err->reason = info->name;
        return true;
    case RESPONSE_MESSAGE:
        error_set(err, err->status, "%.*s", STR_ARG(field->bytes));
        err->reason = reason;
        return true;
    case RESPONSE_META:
        return read_meta(field->bytes, arena, err);
    case RESPONSE_CURRENT:
        return read_current(field->bytes, arena, out);
    case RESPONSE_LEFT_OPEN:
        return read_left_open(field->bytes, arena, out);
    case RESPONSE_RESULT:
        break;
    }
    return false;
}

static bool read_response(struct str bytes, struct operation *operation, struct error *err)
{
    struct outcome_write *out = &operation->out.write;
    enum wire_result result;
    struct wire_field field;
    size_t count = 0;

    if (bytes.len == 0 || bytes.data[0] != VERSION)
        return false;
    *out = (struct outcome_write){ .replayed = true };
    out->results = ARENA_ARRAY(operation->arena, struct write_result, operation->in.write.count);
    bytes = str_from(bytes, 1);
    while ((result = wire_read_field(&bytes, &field)) == WIRE_FIELD) {
        if (field.type != WIRE_BYTES)
            return false;
        if (field.number != RESPONSE_RESULT
                ? !read_error(&field, operation->arena, out, err)
                : count == operation->in.write.count || !read_result(field.bytes, &out->results[count++]))
            return false;
    }
    return result == WIRE_END && (err->reason || count == operation->in.write.count);
}

void request_record_replay(
    const struct request_record *record, struct str digest, struct operation *operation)
{
    struct error err = { 0 };

    operation->status = STATUS_OK;
    operation->error = NULL;
    if (!str_equal(record->digest, digest)) {
        reason_set(&err, REASON_REQUEST_ID_REUSED,
            "request_id %.*s was used before, for a write with another content or to an earlier table",
            STR_ARG(operation->in.write.request_id));
        operation_fail(operation, &err);
    } else if (!read_response(record->response, operation, &err)) {
        reason_set(&err, REASON_INTERNAL_ERROR, "the record of a request cannot be read");
        operation_fail(operation, &err);
    } else if (err.reason) {
        error_add_meta(&err, "replayed", STR_LITERAL("true"));
        operation_fail(operation, &err);
    }
}
