/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity.c - typed entities. An entity from the service, or from JSON, stays in serialized form until a
 * property is asked for, so reading and writing many entities costs only the copying of their bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "api/codec_entity.h"
#include "api/json/entity_json.h"
#include "base/wire.h"
#include "client/lib/call_error.h"
#include "client/lib/entity_parts.h"
#include "domain/reason.h"
#include "domain/ticks.h"

/* ---- making ---- */

struct tavola_entity *entity_make(void)
{
    struct tavola_entity *entity = xcalloc(1, sizeof(*entity));

    arena_init(&entity->arena);
    entity_reset(entity);
    return entity;
}

void entity_reset(struct tavola_entity *entity)
{
    struct arena arena = entity->arena;

    arena_cleanup(&arena);
    *entity = (struct tavola_entity){ .arena = arena, .has_list = true };
    entity->partition = entity->row = entity->etag = STR_EMPTY;
}

static void set_key(struct tavola_entity *entity, struct str partition, struct str row)
{
    entity->partition = arena_copy(&entity->arena, partition);
    entity->row = arena_copy(&entity->arena, row);
}

struct tavola_entity *tavola_entity_new(struct tavola_key key)
{
    struct tavola_entity *entity = entity_make();

    set_key(entity, str_of(key.partition), str_of(key.row));
    return entity;
}

void tavola_entity_free(struct tavola_entity *entity)
{
    if (!entity)
        return;
    arena_cleanup(&entity->arena);
    free(entity);
}

struct tavola_entity *tavola_entity_copy(const struct tavola_entity *entity)
{
    struct tavola_entity *copy = entity_make();

    set_key(copy, entity->partition, entity->row);
    copy->etag = arena_copy(&copy->arena, entity->etag);
    copy->timestamp = entity->timestamp;
    copy->expires = entity->expires;
    if (entity->has_list)
        copy->list.bytes = arena_copy(&copy->arena, entity->list.bytes);
    for (size_t i = 0; !entity->has_list && i < entity->count; i++)
        tavola_entity_set(copy, entity->properties[i].name, &entity->properties[i].value);
    return copy;
}

/* ---- values ---- */

struct tavola_time entity_time_of(int64_t ticks)
{
    struct tavola_time time = { 0, 0 };

    if (ticks != 0)
        ticks_to_timestamp(ticks, &time.seconds, &time.nanos);
    return time;
}

/* Of a property every time is one, also the first of the calendar, whose ticks are 0. */
static struct tavola_time time_of_property(const struct value *value)
{
    struct tavola_time time = { 0, 0 };

    if (value->type == PROPERTY_DATETIME)
        ticks_to_timestamp(value->integer, &time.seconds, &time.nanos);
    return time;
}

static struct tavola_value value_of(const struct value *value, struct arena *arena)
{
    struct str bytes = value->bytes.len > 0 ? arena_copy(arena, value->bytes) : STR_EMPTY;

    return (struct tavola_value){
        .type = (enum tavola_type)value->type,
        .data = bytes.data,
        .size = bytes.len,
        .integer = value->type == PROPERTY_DATETIME ? 0 : value->integer,
        .number = value->number,
        .time = time_of_property(value),
    };
}

static void add_property(struct tavola_entity *entity, const char *name, struct tavola_value value)
{
    if (entity->count == entity->capacity) {
        size_t capacity = entity->capacity ? 2 * entity->capacity : 8;
        struct entity_property *grown = ARENA_ARRAY(&entity->arena, struct entity_property, capacity);

        if (entity->count > 0)
            memcpy(grown, entity->properties, entity->count * sizeof(*grown));
        entity->properties = grown;
        entity->capacity = capacity;
    }
    entity->properties[entity->count++] = (struct entity_property){ name, value };
}

/*
 * Read the properties from their serialized form. This changes only the representation, so it is done for
 * read-only functions too.
 */
static void need_properties(const struct tavola_entity *read)
{
    struct tavola_entity *entity = (struct tavola_entity *)(uintptr_t)read;
    struct str rest = entity->list.bytes;
    struct property property;

    if (entity->has_properties)
        return;
    entity->has_properties = true;
    while (property_next(&rest, &property))
        add_property(entity, arena_copy(&entity->arena, property.name).data,
            value_of(&property.value, &entity->arena));
}

static size_t find_property(const struct tavola_entity *entity, const char *name)
{
    size_t i = 0;

    need_properties(entity);
    while (i < entity->count && strcmp(entity->properties[i].name, name) != 0)
        i++;
    return i;
}

/* ---- setting ---- */

void tavola_entity_set(struct tavola_entity *entity, const char *name, const struct tavola_value *value)
{
    size_t found = find_property(entity, name);
    struct tavola_value copy = *value;

    copy.data = value->data ? arena_copy(&entity->arena, str_of_bytes(value->data, value->size)).data : "";
    entity->has_list = false;
    if (found < entity->count)
        entity->properties[found].value = copy;
    else
        add_property(entity, arena_copy(&entity->arena, str_of(name)).data, copy);
}

void tavola_entity_set_string(struct tavola_entity *entity, const char *name, const char *text)
{
    tavola_entity_set(entity, name, &TAVOLA_TEXT(text));
}

void tavola_entity_set_boolean(struct tavola_entity *entity, const char *name, bool value)
{
    tavola_entity_set(entity, name, &(struct tavola_value){ .type = TAVOLA_BOOLEAN, .integer = value });
}

void tavola_entity_set_int32(struct tavola_entity *entity, const char *name, int32_t value)
{
    tavola_entity_set(entity, name, &TAVOLA_INT(value));
}

void tavola_entity_set_int64(struct tavola_entity *entity, const char *name, int64_t value)
{
    tavola_entity_set(entity, name, &TAVOLA_LONG(value));
}

void tavola_entity_set_double(struct tavola_entity *entity, const char *name, double value)
{
    tavola_entity_set(entity, name, &(struct tavola_value){ .type = TAVOLA_DOUBLE, .number = value });
}

void tavola_entity_set_datetime(struct tavola_entity *entity, const char *name, struct tavola_time value)
{
    tavola_entity_set(entity, name, &(struct tavola_value){ .type = TAVOLA_DATETIME, .time = value });
}

void tavola_entity_set_guid(struct tavola_entity *entity, const char *name, const char *guid)
{
    tavola_entity_set(
        entity, name, &(struct tavola_value){ .type = TAVOLA_GUID, .data = guid, .size = strlen(guid) });
}

void tavola_entity_set_binary(struct tavola_entity *entity, const char *name, const void *bytes, size_t size)
{
    tavola_entity_set(
        entity, name, &(struct tavola_value){ .type = TAVOLA_BINARY, .data = bytes, .size = size });
}

void tavola_entity_remove(struct tavola_entity *entity, const char *name)
{
    size_t found = find_property(entity, name);

    if (found == entity->count)
        return;
    entity->has_list = false;
    entity->count--;
    memmove(&entity->properties[found], &entity->properties[found + 1],
        (entity->count - found) * sizeof(*entity->properties));
}

void tavola_entity_set_expires(struct tavola_entity *entity, struct tavola_time expires)
{
    if (!ticks_from_timestamp(expires.seconds, expires.nanos, &entity->expires))
        entity->expires = expires.seconds < 0 ? 1 : 0;
}

/* ---- getting ---- */

struct tavola_key tavola_entity_key(const struct tavola_entity *entity)
{
    return (struct tavola_key){ entity->partition.data, entity->row.data };
}

const char *tavola_entity_etag(const struct tavola_entity *entity)
{
    return entity->etag.data;
}

struct tavola_time tavola_entity_timestamp(const struct tavola_entity *entity)
{
    return entity_time_of(entity->timestamp);
}

struct tavola_time tavola_entity_expires(const struct tavola_entity *entity)
{
    return entity_time_of(entity->expires);
}

size_t tavola_entity_count(const struct tavola_entity *entity)
{
    need_properties(entity);
    return entity->count;
}

const struct tavola_value *tavola_entity_get(const struct tavola_entity *entity, const char *name)
{
    size_t found = find_property(entity, name);

    return found < entity->count ? &entity->properties[found].value : NULL;
}

const struct tavola_value *tavola_entity_at(
    const struct tavola_entity *entity, size_t position, const char **name)
{
    need_properties(entity);
    if (position >= entity->count)
        return NULL;
    *name = entity->properties[position].name;
    return &entity->properties[position].value;
}

static const struct tavola_value *get_typed(
    const struct tavola_entity *entity, const char *name, enum tavola_type type)
{
    const struct tavola_value *value = tavola_entity_get(entity, name);

    return value && value->type == type ? value : NULL;
}

const char *tavola_entity_string(const struct tavola_entity *entity, const char *name, const char *fallback)
{
    const struct tavola_value *value = get_typed(entity, name, TAVOLA_STRING);

    return value ? value->data : fallback;
}

int64_t tavola_entity_int64(const struct tavola_entity *entity, const char *name, int64_t fallback)
{
    const struct tavola_value *value = tavola_entity_get(entity, name);

    return value && (value->type == TAVOLA_INT32 || value->type == TAVOLA_INT64) ? value->integer : fallback;
}

double tavola_entity_double(const struct tavola_entity *entity, const char *name, double fallback)
{
    const struct tavola_value *value = get_typed(entity, name, TAVOLA_DOUBLE);

    return value ? value->number : fallback;
}

bool tavola_entity_boolean(const struct tavola_entity *entity, const char *name, bool fallback)
{
    const struct tavola_value *value = get_typed(entity, name, TAVOLA_BOOLEAN);

    return value ? value->integer != 0 : fallback;
}

/* ---- messages ---- */

static enum tavola_code decode_entity(
    const Tavola__V1__Entity *message, struct arena *arena, struct entity *out, struct tavola_error *error)
{
    struct error err = { 0 };
    struct property_excess *ignored;

    if (codec_entity_decode_wide(message, "entity", arena, out, &ignored, &err) != STATUS_OK)
        return call_error_set(
            error, TAVOLA_INTERNAL, "an entity of the service cannot be read: %s", err.message);
    return TAVOLA_OK;
}

enum tavola_code entity_receive(
    struct tavola_entity *entity, const Tavola__V1__Entity *message, struct tavola_error *error)
{
    struct entity read;

    if (decode_entity(message, &entity->arena, &read, error) != TAVOLA_OK)
        return error->code;
    set_key(entity, read.key.partition, read.key.row);
    entity->etag = arena_copy(&entity->arena, codec_str(message->etag));
    entity->list.bytes = arena_copy(&entity->arena, read.properties.bytes);
    entity->expires = read.expires;
    if (message->timestamp)
        (void)ticks_from_timestamp(
            message->timestamp->seconds, message->timestamp->nanos, &entity->timestamp);
    return TAVOLA_OK;
}

enum tavola_code entity_receive_more(
    struct tavola_entity *entity, const Tavola__V1__Entity *message, struct tavola_error *error)
{
    struct entity read;
    struct arena arena;

    arena_init(&arena);
    if (decode_entity(message, &arena, &read, error) == TAVOLA_OK) {
        struct str parts[] = { entity->list.bytes, read.properties.bytes };
        struct buf joined;

        buf_init(&joined, &entity->arena);
        buf_reserve(&joined, parts[0].len + parts[1].len);
        buf_join(&joined, parts, ARRAY_LEN(parts));
        entity->list.bytes = buf_str(&joined);
    }
    arena_cleanup(&arena);
    return error->code;
}

void entity_receive_key(struct tavola_entity *entity, const Tavola__V1__EntityKey *message)
{
    set_key(entity, codec_str(message->partition_key), codec_str(message->row_key));
}

/* Write a property as a map entry, the form that property_list_parse checks. */
static struct str write_property(const struct entity_property *property, struct arena *arena)
{
    const Tavola__V1__Value *value = entity_value_message(&property->value, arena);
    struct buf out;

    buf_init(&out, arena);
    wire_write_bytes(&out, 1, str_of(property->name));
    codec_pack(&out, 2, &value->base);
    return buf_str(&out);
}

/* Check key and properties by the domain's rules; what depends on the table is the service's matter. */
static enum status check_entity(
    const struct tavola_entity *entity, struct arena *arena, struct entity *out, struct error *err)
{
    struct property_excess *ignored;
    struct str *slices;

    *out = (struct entity){ .expires = entity->expires, .timestamp = entity->timestamp };
    TRY(entity_key_parse(entity->partition, entity->row, &out->key, err));
    out->properties = entity->list;
    if (entity->has_list)
        return STATUS_OK;
    slices = ARENA_ARRAY(arena, struct str, entity->count + 1);
    for (size_t i = 0; i < entity->count; i++)
        slices[i] = write_property(&entity->properties[i], arena);
    return property_list_parse_wide(&(struct property_slices){ slices, entity->count, &out->key }, arena,
        &out->properties, &ignored, err);
}

enum tavola_code entity_message(const struct tavola_entity *entity, struct arena *arena,
    Tavola__V1__Entity **out, struct tavola_error *error)
{
    struct error err = { 0 };
    struct entity checked;

    if (check_entity(entity, arena, &checked, &err) != STATUS_OK)
        return call_error_of(&err, error);
    *out = codec_entity_message(&checked.key, checked.properties, checked.expires, arena);
    return TAVOLA_OK;
}

static Google__Protobuf__Timestamp *timestamp_of(struct tavola_time time, struct arena *arena)
{
    Google__Protobuf__Timestamp *out = ARENA_NEW(arena, Google__Protobuf__Timestamp);

    google__protobuf__timestamp__init(out);
    out->seconds = time.seconds;
    out->nanos = time.nanos;
    return out;
}

Tavola__V1__Value *entity_value_message(const struct tavola_value *value, struct arena *arena)
{
    Tavola__V1__Value *out = ARENA_NEW(arena, Tavola__V1__Value);

    tavola__v1__value__init(out);
    out->kind_case = (Tavola__V1__Value__KindCase)value->type;
    switch (value->type) {
    case TAVOLA_STRING:
    case TAVOLA_GUID:
    case TAVOLA_BINARY: /* one member of the union for all three: each is bytes */
        out->string_value = codec_bytes(str_of_bytes(value->data, value->size));
        break;
    case TAVOLA_BOOLEAN:
        out->boolean_value = value->integer != 0;
        break;
    case TAVOLA_INT32:
        out->int32_value = (int32_t)value->integer;
        break;
    case TAVOLA_INT64:
        out->int64_value = value->integer;
        break;
    case TAVOLA_DOUBLE:
        out->double_value = value->number;
        break;
    case TAVOLA_DATETIME:
        out->datetime_value = timestamp_of(value->time, arena);
        break;
    case TAVOLA_NULL:
        break;
    }
    return out;
}

void entity_note_written(struct tavola_entity *entity, const Tavola__V1__WriteResult *result)
{
    entity->etag = arena_copy(&entity->arena, codec_str(result->etag));
    if (result->timestamp)
        (void)ticks_from_timestamp(result->timestamp->seconds, result->timestamp->nanos, &entity->timestamp);
}

Tavola__V1__EntityKey *entity_key_of(struct tavola_key key, struct arena *arena)
{
    Tavola__V1__EntityKey *out = ARENA_NEW(arena, Tavola__V1__EntityKey);

    tavola__v1__entity_key__init(out);
    out->partition_key = codec_bytes(str_of(key.partition));
    out->row_key = codec_bytes(str_of(key.row));
    return out;
}

/* ---- JSON and text ---- */

enum tavola_code tavola_entity_from_json(
    const char *json, size_t size, struct tavola_entity **out, struct tavola_error *error)
{
    struct tavola_entity *entity = entity_make();
    struct tavola_error own;
    struct error err = { 0 };
    struct property_excess *ignored; /* it depends on the table */
    struct entity read;

    error = call_error_begin(error, &own);
    if (entity_json_read(str_of_bytes(json, size), &entity->arena, &read, &ignored, &err) != STATUS_OK) {
        tavola_entity_free(entity);
        return call_error_of(&err, error);
    }
    set_key(entity, read.key.partition, read.key.row);
    entity->list = read.properties;
    entity->expires = read.expires;
    *out = entity;
    return TAVOLA_OK;
}

char *tavola_entity_to_json(const struct tavola_entity *entity)
{
    struct entity checked;
    struct error ignored;
    struct arena arena;
    struct buf out;

    arena_init(&arena);
    buf_init(&out, NULL);
    if (check_entity(entity, &arena, &checked, &ignored) == STATUS_OK)
        entity_json_write(&checked, entity->etag, &out);
    buf_append_byte(&out, '\0');
    arena_cleanup(&arena);
    return out.data;
}

static enum status set_expires(
    struct tavola_entity *entity, const char *type, const char *text, struct error *err)
{
    if (type && entity_json_find_type(str_of(type)) != PROPERTY_DATETIME)
        return reason_set(err, REASON_INVALID_INPUT, "%.*s: its type is DateTime, not \"%.64s\"",
            STR_ARG(ENTITY_JSON_EXPIRES), type);
    return entity_json_read_expires(str_of(text), &entity->expires, err);
}

enum tavola_code tavola_entity_set_text(struct tavola_entity *entity, const char *name, const char *type,
    const char *text, struct tavola_error *error)
{
    struct tavola_error own;
    struct error err = { 0 };
    struct property_list list;
    struct property property;
    struct entity_key key = { entity->partition, entity->row };
    struct str slice, rest;

    error = call_error_begin(error, &own);
    if (str_equal(str_of(name), ENTITY_JSON_EXPIRES))
        return set_expires(entity, type, text, &err) == STATUS_OK ? TAVOLA_OK : call_error_of(&err, error);
    if (entity_json_read_text(str_of(name), str_of(type ? type : "String"), str_of(text), &entity->arena,
            &slice, &err) != STATUS_OK ||
        property_list_parse(&slice, 1, &key, &entity->arena, &list, &err) != STATUS_OK)
        return call_error_of(&err, error);
    rest = list.bytes;
    if (property_next(&rest, &property)) {
        struct tavola_value value = value_of(&property.value, &entity->arena);

        tavola_entity_set(entity, name, &value);
    }
    return TAVOLA_OK;
}
