/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_entity.c - see the header.
 */
#include "api/codec_entity.h"

#include <stdio.h>
#include <string.h>

#include "base/wire.h"
#include "domain/reason.h"
#include "domain/ticks.h"

enum entity_field {
    ENTITY_PARTITION_KEY = 1,
    ENTITY_ROW_KEY = 2,
    ENTITY_TIMESTAMP = 3,
    ENTITY_ETAG = 4,
    ENTITY_EXPIRES = 5,
};

/* The fields of an entity that differ from its stored form. */
struct entity_head {
    struct str etag;
    char etag_text[ETAG_BYTES];
    size_t time_bytes; /* of timestamp and expires */
};

/*
 * Prefix the error's field path with the part of the entity or key that a rule has refused. The rule has
 * named the property already.
 */
static enum status in_part(struct error *err, const char *field)
{
    const char *property = NULL;
    char step[ERROR_META_VALUE_BYTES + 16];

    for (size_t i = 0; i < err->meta_count; i++)
        if (strcmp(err->meta[i].key, "property") == 0)
            property = err->meta[i].value;
    if (property && strcmp(property, "PartitionKey") == 0)
        (void)error_in_field(err, "partition_key");
    else if (property && strcmp(property, "RowKey") == 0)
        (void)error_in_field(err, "row_key");
    else if (property) {
        snprintf(step, sizeof(step), "properties[%s]", property);
        (void)error_in_field(err, step);
    }
    return error_in_field(err, field);
}

enum status codec_entity_key_decode(
    const Tavola__V1__EntityKey *message, const char *field, struct entity_key *out, struct error *err)
{
    if (!message) {
        (void)reason_set(err, REASON_PROPERTIES_NEED_VALUE,
            "%s is missing: a partition key and a row key, either of which may be empty", field);
        return error_in_field(err, field);
    }
    if (entity_key_parse(codec_str(message->partition_key), codec_str(message->row_key), out, err) !=
        STATUS_OK)
        return in_part(err, field);
    return STATUS_OK;
}

static enum status expires_decode(const Google__Protobuf__Timestamp *message, int64_t *out, struct error *err)
{
    *out = 0;
    if (message && !ticks_from_expiry(message->seconds, message->nanos, out)) {
        (void)reason_set(err, REASON_OUT_OF_RANGE_INPUT, "expires is not in the years 1601 to 9999");
        return error_in_field(err, "expires");
    }
    return STATUS_OK;
}

static enum status entity_decode(const Tavola__V1__Entity *message, struct arena *arena, struct entity *out,
    struct property_excess **excess, struct error *err)
{
    struct str *slices = ARENA_ARRAY(arena, struct str, message->n_properties);

    TRY(expires_decode(message->expires, &out->expires, err));
    TRY(entity_key_parse(codec_str(message->partition_key), codec_str(message->row_key), &out->key, err));
    for (size_t i = 0; i < message->n_properties; i++)
        slices[i] = codec_str(message->properties[i]);
    if (!excess)
        return property_list_parse(slices, message->n_properties, &out->key, arena, &out->properties, err);
    return property_list_parse_wide(&(struct property_slices){ slices, message->n_properties, &out->key },
        arena, &out->properties, excess, err);
}

static enum status required_decode(const Tavola__V1__Entity *message, const char *field, struct arena *arena,
    struct entity *out, struct property_excess **excess, struct error *err)
{
    if (!message) {
        (void)reason_set(err, REASON_PROPERTIES_NEED_VALUE, "%s is missing: the entity to write", field);
        return error_in_field(err, field);
    }
    if (entity_decode(message, arena, out, excess, err) != STATUS_OK)
        return in_part(err, field);
    return STATUS_OK;
}

enum status codec_entity_decode(const Tavola__V1__Entity *message, const char *field, struct arena *arena,
    struct entity *out, struct error *err)
{
    return required_decode(message, field, arena, out, NULL, err);
}

enum status codec_entity_decode_wide(const Tavola__V1__Entity *message, const char *field,
    struct arena *arena, struct entity *out, struct property_excess **excess, struct error *err)
{
    TRY(required_decode(message, field, arena, out, excess, err));
    if (*excess)
        (void)in_part((*excess)->in_table, field);
    if (*excess && (*excess)->in_wide_table)
        (void)in_part((*excess)->in_wide_table, field);
    return STATUS_OK;
}

enum status codec_entity_value_decode(const Tavola__V1__Value *message, const char *field,
    struct arena *arena, struct value *out, struct error *err)
{
    struct value value;
    struct buf bytes;

    if (!message || message->kind_case == TAVOLA__V1__VALUE__KIND__NOT_SET)
        return reason_set(err, REASON_INVALID_INPUT, "%s is null: it must have a value", field);
    buf_init(&bytes, arena);
    codec_pack(&bytes, 0, &message->base);
    TRY(value_parse(buf_str(&bytes), &value, arena, err));
    *out = value;
    return STATUS_OK;
}

static size_t field_bytes(struct str text)
{
    return text.len == 0 ? 0 : 1 + wire_varint_bytes(text.len) + text.len;
}

static void write_text(struct buf *out, uint32_t field, struct str text)
{
    if (text.len > 0)
        wire_write_bytes(out, field, text);
}

/* The size of a Timestamp field with its tag and length, in bytes; 0 if the time is 0. */
static size_t time_bytes(int64_t ticks)
{
    size_t bytes = 2;
    int64_t seconds;
    int32_t nanos;

    if (ticks == 0)
        return 0;
    ticks_to_timestamp(ticks, &seconds, &nanos);
    if (seconds != 0)
        bytes += 1 + wire_varint_bytes((uint64_t)seconds);
    if (nanos != 0)
        bytes += 1 + wire_varint_bytes((uint64_t)nanos);
    return bytes;
}

/*
 * Set the fields of the entity that are not in its stored form. key: the digest of the entity's key, for the
 * ETag.
 */
static void head_init(struct entity_head *head, const struct entity *entity, uint32_t key)
{
    struct etag etag = entity->etag;

    etag.key = key;
    head->etag = str_of_bytes(head->etag_text, etag_format(etag, head->etag_text));
    head->time_bytes = time_bytes(entity->timestamp) + time_bytes(entity->expires);
}

/* The size of the entity's message in bytes, without its own tag and length. */
static size_t content_bytes(const struct entity_head *head, const struct entity *entity)
{
    return codec_entity_key_bytes(&entity->key) + head->time_bytes + field_bytes(head->etag) +
           entity->properties.bytes.len;
}

size_t codec_entity_bytes(const struct entity *entity)
{
    struct entity_head head;
    size_t bytes;

    head_init(&head, entity, 1); /* all digests of keys have the same length */
    bytes = content_bytes(&head, entity);
    return 1 + wire_varint_bytes(bytes) + bytes;
}

static void write_key_fields(struct buf *out, const struct entity_key *key)
{
    write_text(out, ENTITY_PARTITION_KEY, key->partition);
    write_text(out, ENTITY_ROW_KEY, key->row);
}

void codec_entity_write(struct buf *out, uint32_t field, const struct entity *entity)
{
    struct entity_head head;

    head_init(&head, entity, etag_key(&entity->key));
    wire_write_tag(out, field, WIRE_BYTES);
    wire_write_varint(out, content_bytes(&head, entity));
    write_key_fields(out, &entity->key);
    codec_write_timestamp(out, ENTITY_TIMESTAMP, entity->timestamp);
    write_text(out, ENTITY_ETAG, head.etag);
    codec_write_timestamp(out, ENTITY_EXPIRES, entity->expires);
    buf_append(out, entity->properties.bytes);
}

size_t codec_entity_key_bytes(const struct entity_key *key)
{
    return field_bytes(key->partition) + field_bytes(key->row);
}

void codec_entity_key_write(struct buf *out, uint32_t field, const struct entity_key *key)
{
    wire_write_tag(out, field, WIRE_BYTES);
    wire_write_varint(out, codec_entity_key_bytes(key));
    write_key_fields(out, key);
}

Tavola__V1__EntityKey *codec_entity_key_message(const struct entity_key *key, struct arena *arena)
{
    Tavola__V1__EntityKey *out = ARENA_NEW(arena, Tavola__V1__EntityKey);

    tavola__v1__entity_key__init(out);
    out->partition_key = codec_bytes(key->partition);
    out->row_key = codec_bytes(key->row);
    return out;
}

Tavola__V1__Entity *codec_entity_message(
    const struct entity_key *key, struct property_list properties, int64_t expires, struct arena *arena)
{
    Tavola__V1__Entity *out = ARENA_NEW(arena, Tavola__V1__Entity);
    struct str rest = properties.bytes;
    struct wire_field record;
    size_t count = 0;

    tavola__v1__entity__init(out);
    out->partition_key = codec_bytes(key->partition);
    out->row_key = codec_bytes(key->row);
    out->expires = codec_timestamp(expires, arena);
    while (wire_read_field(&rest, &record) == WIRE_FIELD)
        count++;
    out->properties = ARENA_ARRAY(arena, ProtobufCBinaryData, count);
    rest = properties.bytes;
    while (wire_read_field(&rest, &record) == WIRE_FIELD)
        out->properties[out->n_properties++] = codec_bytes(record.bytes);
    return out;
}
