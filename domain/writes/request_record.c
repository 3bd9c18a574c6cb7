/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_record.c - the stored answer is one version byte and a message (base/wire_form.h): either
 * a result for each write, or a refusal with its metadata and the entity that its condition was
 * compared with.
 */
#include "domain/writes/request_record.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/wire.h"
#include "base/wire_form.h"
#include "domain/reason.h"

enum { VERSION = 1 };

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
    /* optional: requests without it keep the digest that earlier versions computed */
    FIELD_ETAG_KEY,
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
        abort(); /* the only cause is that memory has run out */
    buf_cleanup(&scratch);
    buf_cleanup(&content);
    return str_of_bytes(digest, REQUEST_DIGEST_BYTES);
}

/* ---- the stored answer ---- */

struct meta {
    struct str key, value;
};

struct response {
    struct write_result *results;
    size_t result_count;
    struct str reason; /* empty: the write was not refused */
    struct str message;
    struct meta *meta;
    size_t meta_count;
    const struct entity *current; /* NULL: none */
    struct str left_open;         /* bytes of a struct consistency; empty: none */
};

#define RESULT(number, type, member, ...)                                                                    \
    WIRE_FORM_FIELD(number, type, struct write_result, member, __VA_ARGS__)
#define META(number, type, member, ...) WIRE_FORM_FIELD(number, type, struct meta, member, __VA_ARGS__)
#define ENTITY(number, type, member, ...) WIRE_FORM_FIELD(number, type, struct entity, member, __VA_ARGS__)
#define RESPONSE(number, type, member, ...)                                                                  \
    WIRE_FORM_FIELD(number, type, struct response, member, __VA_ARGS__)

static const struct wire_form_field result_fields[] = {
    RESULT(1, INT64, etag.table_id),
    RESULT(2, INT64, etag.version),
    RESULT(3, INT64, timestamp),
    RESULT(4, UINT32, etag.key, .optional = true),
};
static const struct wire_form result_form =
    WIRE_FORM(result_fields, struct write_result, .skips_unknown = true);

static const struct wire_form_field meta_fields[] = {
    META(1, TEXT, key),
    META(2, TEXT, value),
};
static const struct wire_form meta_form = WIRE_FORM(meta_fields, struct meta, .skips_unknown = true);

static const struct wire_form_field entity_fields[] = {
    ENTITY(1, TEXT, key.partition),
    ENTITY(2, TEXT, key.row),
    ENTITY(3, INT64, etag.table_id),
    ENTITY(4, INT64, etag.version),
    ENTITY(5, INT64, timestamp),
    ENTITY(6, TEXT, properties.bytes),
    ENTITY(7, INT64, expires),
};
static const struct wire_form entity_form = WIRE_FORM(entity_fields, struct entity, .skips_unknown = true);

static const struct wire_form_field response_fields[] = {
    WIRE_FORM_ARRAY(1, MESSAGES, struct response, results, result_count, .form = &result_form),
    RESPONSE(2, TEXT, reason, .optional = true),
    RESPONSE(3, TEXT, message, .optional = true),
    WIRE_FORM_ARRAY(4, MESSAGES, struct response, meta, meta_count, .form = &meta_form),
    RESPONSE(5, MESSAGE, current, .form = &entity_form),
    RESPONSE(6, TEXT, left_open, .optional = true),
};
static const struct wire_form response_form = WIRE_FORM(response_fields, struct response);

static struct response refusal_of(const struct operation *operation, struct arena *arena)
{
    const struct error *err = operation->error;
    struct response response = { .reason = str_of(err->reason),
        .message = str_of(err->message),
        .meta = ARENA_ARRAY(arena, struct meta, err->meta_count),
        .meta_count = err->meta_count,
        .current = operation->out.write.current };

    for (size_t i = 0; i < err->meta_count; i++)
        response.meta[i] = (struct meta){ str_of(err->meta[i].key), str_of(err->meta[i].value) };
    return response;
}

static struct response results_of(const struct operation *operation, struct arena *arena)
{
    const struct outcome_write *out = &operation->out.write;

    return (struct response){ .results = out->results,
        .result_count = operation->in.write.count,
        .left_open = out->left_open ? consistency_encode(out->left_open, arena) : STR_EMPTY };
}

struct str request_record_response(const struct operation *operation, struct arena *arena)
{
    struct response response = operation->error ? refusal_of(operation, arena) : results_of(operation, arena);
    struct buf out;

    assert(operation->in.write.atomic);
    buf_init(&out, arena);
    buf_append_byte(&out, VERSION);
    wire_form_write(&out, &response_form, &response);
    return buf_str(&out);
}

/* ---- the answer to a repeat ---- */

/* false: no version has had a reason with this name. */
static bool set_refusal(const struct response *response, struct arena *arena, struct error *err)
{
    const struct reason_info *info = reason_find(arena_copy(arena, response->reason).data);

    if (!info)
        return false;
    error_set(err, info->status, "%.*s", STR_ARG(response->message));
    err->reason = info->name;
    for (size_t i = 0; i < response->meta_count; i++)
        error_add_meta(err, arena_copy(arena, response->meta[i].key).data, response->meta[i].value);
    return true;
}

static bool set_left_open(struct str bytes, struct arena *arena, struct outcome_write *out)
{
    struct consistency *left_open;

    if (bytes.len == 0)
        return true;
    out->left_open = left_open = ARENA_NEW(arena, struct consistency);
    return consistency_decode(bytes, arena, left_open);
}

/* The outcome borrows a copy of the bytes in the operation's arena. */
static bool read_response(struct str bytes, struct operation *operation, struct error *err)
{
    struct outcome_write *out = &operation->out.write;
    struct response response;

    if (bytes.len == 0 || bytes.data[0] != VERSION)
        return false;
    bytes = arena_copy(operation->arena, str_from(bytes, 1));
    if (!wire_form_read(bytes, &response_form, operation->arena, &response))
        return false;
    *out =
        (struct outcome_write){ .replayed = true, .results = response.results, .current = response.current };
    if (!set_left_open(response.left_open, operation->arena, out))
        return false;
    if (response.reason.len > 0)
        return set_refusal(&response, operation->arena, err);
    return response.result_count == operation->in.write.count;
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
            STR_ARG(str_of_bytes(operation->in.write.request_id.data,
                operation->in.write.request_id.len - operation->in.write.id_scope_bytes)));
        operation_fail(operation, &err);
    } else if (!read_response(record->response, operation, &err)) {
        reason_set(&err, REASON_INTERNAL_ERROR, "the record of a request cannot be read");
        operation_fail(operation, &err);
    } else if (err.reason) {
        error_add_meta(&err, "replayed", STR_LITERAL("true"));
        operation_fail(operation, &err);
    }
}
