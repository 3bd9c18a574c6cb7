/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_json.c - see the header. Each property becomes a map entry {1: name, 2: Value}, as in a request;
 * then property_list_parse checks all of them.
 */
#include "api/json/entity_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_forms.h"
#include "api/json/json_members.h"
#include "base/digits.h"
#include "base/macros.h"
#include "base/wire.h"
#include "domain/reason.h"
#include "domain/text.h"
#include "domain/ticks.h"

static const struct str annotation = STR_LITERAL("@odata.type"), metadata = STR_LITERAL("odata.");

/* Whether the name ends with the text. */
static bool ends_with(struct str name, struct str text)
{
    return name.len > text.len && str_equal(str_from(name, name.len - text.len), text);
}

/* ---- values into the fields of a Value message ---- */

static bool is_text(const struct json_scalar *json)
{
    return json->kind == JSON_KIND_TEXT;
}

static bool put_integer(enum property_type type, const struct json_scalar *json, struct buf *out)
{
    int64_t min = type == PROPERTY_INT32 ? INT32_MIN : INT64_MIN,
            max = type == PROPERTY_INT32 ? INT32_MAX : INT64_MAX;
    int64_t integer = json->kind == JSON_KIND_INTEGER ? json->integer : 0;

    if (is_text(json) ? !digits_parse_signed(json->text, min, max, &integer)
                      : json->kind != JSON_KIND_INTEGER || integer < min || integer > max)
        return false;
    wire_write_scalar(out, (uint32_t)type, wire_zigzag(integer));
    return true;
}

static bool put_double(const struct json_scalar *json, struct buf *out)
{
    double number = json->kind == JSON_KIND_REAL ? json->real : (double)json->integer;
    uint64_t bits;

    if (json->kind != JSON_KIND_REAL && json->kind != JSON_KIND_INTEGER &&
        (!is_text(json) || !json_forms_read_double(json->text, &number)))
        return false;
    memcpy(&bits, &number, sizeof(bits));
    wire_write_tag(out, PROPERTY_DOUBLE, WIRE_FIXED64);
    wire_write_number(out, WIRE_FIXED64, bits);
    return true;
}

static bool put_boolean(const struct json_scalar *json, struct buf *out)
{
    bool is_true = is_text(json) ? str_equal(json->text, STR_LITERAL("true")) : json->integer != 0;

    if (is_text(json) ? !is_true && !str_equal(json->text, STR_LITERAL("false"))
                      : json->kind != JSON_KIND_BOOLEAN)
        return false;
    wire_write_scalar(out, PROPERTY_BOOLEAN, is_true);
    return true;
}

static bool put_datetime(const struct json_scalar *json, struct arena *arena, struct buf *out)
{
    struct buf inner;
    int64_t seconds;
    int32_t nanos;

    if (!is_text(json) || !json_forms_read_timestamp(json->text, &seconds, &nanos))
        return false;
    buf_init(&inner, arena);
    wire_write_scalar(&inner, 1, (uint64_t)seconds);
    wire_write_scalar(&inner, 2, (uint64_t)nanos);
    wire_write_bytes(out, PROPERTY_DATETIME, buf_str(&inner));
    return true;
}

static bool put_binary(const struct json_scalar *json, struct arena *arena, struct buf *out)
{
    struct str bytes;

    if (!is_text(json) || !json_forms_read_bytes(json->text, arena, &bytes))
        return false;
    wire_write_bytes(out, PROPERTY_BINARY, bytes);
    return true;
}

static bool put_value(
    enum property_type type, const struct json_scalar *json, struct arena *arena, struct buf *out)
{
    switch (type) {
    case PROPERTY_STRING:
    case PROPERTY_GUID:
        if (is_text(json))
            wire_write_bytes(out, (uint32_t)type, json->text);
        return is_text(json);
    case PROPERTY_INT32:
    case PROPERTY_INT64:
        return put_integer(type, json, out);
    case PROPERTY_DOUBLE:
        return put_double(json, out);
    case PROPERTY_BOOLEAN:
        return put_boolean(json, out);
    case PROPERTY_DATETIME:
        return put_datetime(json, arena, out);
    case PROPERTY_BINARY:
        return put_binary(json, arena, out);
    case PROPERTY_NULL:
        break;
    }
    return false;
}

enum property_type entity_json_find_type(struct str name)
{
    struct str bare = str_starts_with(name, STR_LITERAL("Edm.")) ? str_from(name, 4) : name;

    for (enum property_type type = PROPERTY_STRING; type <= PROPERTY_BINARY; type++) {
        const char *known = property_type_short_name(type);

        if (str_equal_any_case(bare, str_of(known)))
            return type;
    }
    return PROPERTY_NULL;
}

static enum property_type type_of_json(const struct json_scalar *json)
{
    switch (json->kind) {
    case JSON_KIND_TEXT:
        return PROPERTY_STRING;
    case JSON_KIND_BOOLEAN:
        return PROPERTY_BOOLEAN;
    case JSON_KIND_INTEGER:
        return json->integer >= INT32_MIN && json->integer <= INT32_MAX ? PROPERTY_INT32 : PROPERTY_DOUBLE;
    case JSON_KIND_REAL:
        return PROPERTY_DOUBLE;
    case JSON_KIND_NULL:
    case JSON_KIND_NESTED:
        break;
    }
    return PROPERTY_NULL;
}

/* ---- properties ---- */

static enum status read_type(
    struct str name, const struct json_scalar *given, enum property_type *out, struct error *err)
{
    *out = is_text(given) ? entity_json_find_type(given->text) : PROPERTY_NULL;
    if (*out != PROPERTY_NULL)
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT,
        "%.*s: its type must be one of Edm.String, Edm.Boolean, Edm.Int32, Edm.Int64, Edm.Double, "
        "Edm.DateTime, "
        "Edm.Guid and Edm.Binary",
        STR_ARG(name));
}

static enum status refuse_value(struct str name, enum property_type type, struct error *err)
{
    if (type == PROPERTY_NULL)
        return reason_set(err, REASON_INVALID_INPUT,
            "%.*s: a property is text, a number, true or false, not an object or a list", STR_ARG(name));
    return reason_set(err, REASON_INVALID_INPUT, "%.*s: the value is not a valid %s", STR_ARG(name),
        property_type_name(type));
}

/* Makes map entries, one after the other. An entry stays where it is when the buffer moves: see buf.h. */
struct entry_writer {
    struct arena *arena;
    struct buf value;   /* of one property */
    struct buf entries; /* of all of them, in the arena */
};

static struct entry_writer entry_writer_of(struct arena *arena)
{
    struct entry_writer writer = { .arena = arena };

    buf_init(&writer.value, arena);
    buf_init(&writer.entries, arena);
    return writer;
}

/* Read a property as a map entry. */
static enum status read_property(struct entry_writer *writer, struct str name, enum property_type type,
    const struct json_scalar *json, struct str *out, struct error *err)
{
    size_t begin = writer->entries.len;

    writer->value.len = 0;
    if (!put_value(type, json, writer->arena, &writer->value))
        return refuse_value(name, type, err);
    wire_write_bytes(&writer->entries, 1, name);
    wire_write_bytes(&writer->entries, 2, buf_str(&writer->value));
    *out = str_from(buf_str(&writer->entries), begin);
    return STATUS_OK;
}

enum status entity_json_read_text(struct str name, struct str type, struct str text, struct arena *arena,
    struct str *slice, struct error *err)
{
    struct json_scalar given = { .kind = JSON_KIND_TEXT, .text = type };
    struct json_scalar value = { .kind = JSON_KIND_TEXT, .text = text };
    struct entry_writer writer = entry_writer_of(arena);
    enum property_type found;

    if (!text_check(type, NULL, NULL) || !text_check(text, NULL, NULL))
        return reason_set(err, REASON_INVALID_INPUT, "%.*s: the text is not UTF-8", STR_ARG(name));
    TRY(read_type(name, &given, &found, err));
    return read_property(&writer, name, found, &value, slice, err);
}

/* ---- entities ---- */

/* The members that tell types, sorted by the names of their properties, which are parts of their own names. */
struct annotations {
    const struct json_member **sorted;
    size_t count;
};

static struct str annotated_name(const struct json_member *member)
{
    return str_of_bytes(member->name.data, member->name.len - annotation.len);
}

static int compare_annotations(const void *a, const void *b)
{
    const struct json_member *const *left = a, *const *right = b;

    return str_compare(annotated_name(*left), annotated_name(*right));
}

static struct annotations find_annotations(const struct json_members *members, struct arena *arena)
{
    struct annotations out = { NULL, 0 };

    for (size_t i = 0; i < members->count; i++) {
        if (!ends_with(members->list[i].name, annotation))
            continue;
        if (!out.sorted)
            out.sorted = ARENA_ARRAY(arena, const struct json_member *, members->count - i);
        out.sorted[out.count++] = &members->list[i];
    }
    if (out.count > 1)
        qsort(out.sorted, out.count, sizeof(*out.sorted), compare_annotations);
    return out;
}

static int compare_to_annotation(const void *name, const void *element)
{
    const struct json_member *const *member = element;

    return str_compare(*(const struct str *)name, annotated_name(*member));
}

/* Find the type of a member: the declared one, or the one that follows from its JSON value. */
static enum status find_type_of(const struct annotations *annotations, const struct json_member *member,
    enum property_type *out, struct error *err)
{
    const struct json_member *const *given = NULL;

    if (annotations->count > 0)
        given = bsearch(&member->name, annotations->sorted, annotations->count, sizeof(*annotations->sorted),
            compare_to_annotation);
    *out = type_of_json(&member->value);
    return given ? read_type(member->name, &(*given)->value, out, err) : STATUS_OK;
}

static bool is_property(const struct json_member *member)
{
    struct str name = member->name;

    return member->value.kind != JSON_KIND_NULL && !ends_with(name, annotation) &&
           !str_starts_with(name, metadata) && !str_equal(name, ENTITY_JSON_EXPIRES) &&
           !str_equal(name, STR_LITERAL("PartitionKey")) && !str_equal(name, STR_LITERAL("RowKey")) &&
           !str_equal(name, STR_LITERAL("Timestamp"));
}

/* Find the text of a member. false: there is no such member, or it is not text. */
static bool find_text(const struct json_members *members, const char *name, struct str *out)
{
    const struct json_member *member = json_members_find(members, str_of(name));

    if (!member || !is_text(&member->value))
        return false;
    *out = member->value.text;
    return true;
}

static enum status read_key(
    const struct json_members *members, struct arena *arena, struct entity_key *out, struct error *err)
{
    struct str partition = STR_EMPTY, row = STR_EMPTY;
    bool has_partition = find_text(members, "PartitionKey", &partition);

    if (!has_partition || !find_text(members, "RowKey", &row))
        return reason_set(err, REASON_PROPERTIES_NEED_VALUE,
            "%s is missing or not text: an entity needs both keys",
            has_partition ? "RowKey" : "PartitionKey");
    return entity_key_parse(arena_copy(arena, partition), arena_copy(arena, row), out, err);
}

static enum status read_properties(const struct json_members *members, struct arena *arena,
    struct entity *out, struct property_excess **excess, struct error *err)
{
    struct annotations annotations = find_annotations(members, arena);
    struct str *slices = arena_alloc(arena, (members->count + 1) * sizeof(*slices));
    struct entry_writer writer = entry_writer_of(arena);
    size_t count = 0;

    for (size_t i = 0; i < members->count; i++) {
        const struct json_member *member = &members->list[i];
        enum property_type type;

        if (!is_property(member))
            continue;
        TRY(find_type_of(&annotations, member, &type, err));
        TRY(read_property(&writer, member->name, type, &member->value, &slices[count++], err));
    }
    if (!excess)
        return property_list_parse(slices, count, &out->key, arena, &out->properties, err);
    return property_list_parse_wide(
        &(struct property_slices){ slices, count, &out->key }, arena, &out->properties, excess, err);
}

enum status entity_json_read_expires(struct str text, int64_t *out, struct error *err)
{
    int64_t seconds;
    int32_t nanos;

    if (!datetime_parse(text, &seconds, &nanos))
        return reason_set(err, REASON_INVALID_INPUT,
            "%.*s: the value is not a time such as 2026-01-31T12:00:00Z", STR_ARG(ENTITY_JSON_EXPIRES));
    if (!ticks_from_expiry(seconds, nanos, out))
        return reason_set(err, REASON_OUT_OF_RANGE_INPUT, "%.*s: the time is not in the years 1601 to 9999",
            STR_ARG(ENTITY_JSON_EXPIRES));
    return STATUS_OK;
}

static enum status read_expires(const struct json_members *members, int64_t *out, struct error *err)
{
    const struct json_member *member = json_members_find(members, ENTITY_JSON_EXPIRES);

    if (!member || member->value.kind == JSON_KIND_NULL)
        return STATUS_OK;
    return entity_json_read_expires(is_text(&member->value) ? member->value.text : STR_EMPTY, out, err);
}

/* Read an entity. key NULL: members have the key. */
static enum status read_entity(struct str text, const struct entity_key *key, struct arena *arena,
    struct entity *out, struct property_excess **excess, struct error *err)
{
    struct json_members members;

    *out = (struct entity){ .expires = 0 };
    TRY(json_members_read(text, arena, &members, err));
    if (key)
        out->key = *key;
    else
        TRY(read_key(&members, arena, &out->key, err));
    TRY(read_expires(&members, &out->expires, err));
    return read_properties(&members, arena, out, excess, err);
}

enum status entity_json_read(struct str text, struct arena *arena, struct entity *out,
    struct property_excess **excess, struct error *err)
{
    return read_entity(text, NULL, arena, out, excess, err);
}

enum status entity_json_read_at(struct str text, const struct entity_key *key, struct arena *arena,
    struct entity *out, struct property_excess **excess, struct error *err)
{
    return read_entity(text, key, arena, out, excess, err);
}

enum status entity_json_read_member(
    struct str text, const char *name, struct arena *arena, struct str *out, struct error *err)
{
    struct json_members members;
    struct str found;

    TRY(json_members_read(text, arena, &members, err));
    if (!find_text(&members, name, &found))
        return reason_set(err, REASON_PROPERTIES_NEED_VALUE, "%s is missing or not text", name);
    *out = arena_copy(arena, found);
    return STATUS_OK;
}

/* ---- writing ---- */

static void write_member(struct buf *out, struct str name)
{
    buf_append(out, STR_LITERAL(", "));
    json_forms_write_text(out, name);
    buf_append(out, STR_LITERAL(": "));
}

void entity_json_write_time(struct buf *out, int64_t ticks, enum datetime_digits digits)
{
    char text[DATETIME_BYTES];

    buf_append_byte(out, '"');
    buf_append(out, str_of_bytes(text, datetime_format(ticks, digits, text)));
    buf_append_byte(out, '"');
}

bool entity_json_needs_annotation(const struct value *value)
{
    return value->type == PROPERTY_INT64 || value->type == PROPERTY_DATETIME ||
           value->type == PROPERTY_GUID || value->type == PROPERTY_BINARY ||
           (value->type == PROPERTY_DOUBLE && !isfinite(value->number));
}

/* Write a whole number with ".0", since without it a reader would take it for an Edm.Int32. */
static void write_double(struct buf *out, double number)
{
    size_t begin = out->len;

    json_forms_write_double(out, number);
    if (isfinite(number) && !memchr(out->data + begin, '.', out->len - begin) &&
        !memchr(out->data + begin, 'e', out->len - begin))
        buf_append(out, STR_LITERAL(".0"));
}

void entity_json_write_value(struct buf *out, const struct value *value)
{
    switch (value->type) {
    case PROPERTY_STRING:
    case PROPERTY_GUID:
        json_forms_write_text(out, value->bytes);
        break;
    case PROPERTY_BOOLEAN:
        buf_append(out, value->integer ? STR_LITERAL("true") : STR_LITERAL("false"));
        break;
    case PROPERTY_INT32:
        buf_format(out, "%lld", (long long)value->integer);
        break;
    case PROPERTY_INT64:
        buf_format(out, "\"%lld\"", (long long)value->integer);
        break;
    case PROPERTY_DOUBLE:
        write_double(out, value->number);
        break;
    case PROPERTY_DATETIME:
        entity_json_write_time(out, value->integer, DATETIME_NEEDED_DIGITS);
        break;
    case PROPERTY_BINARY:
        buf_append_byte(out, '"');
        json_forms_write_bytes(out, value->bytes);
        buf_append_byte(out, '"');
        break;
    case PROPERTY_NULL:
        buf_append(out, STR_LITERAL("null"));
        break;
    }
}

static void write_annotation(struct buf *out, struct str name, enum property_type type)
{
    buf_append(out, STR_LITERAL(", "));
    json_forms_write_text(out, name);
    out->len--; /* remove the closing quote: the name is continued */
    buf_append(out, annotation);
    buf_format(out, "\": \"%s\"", property_type_name(type));
}

void entity_json_write(const struct entity *entity, struct str etag, struct buf *out)
{
    struct str rest = entity->properties.bytes;
    struct property property;

    buf_append_byte(out, '{');
    if (etag.len > 0) {
        buf_append(out, STR_LITERAL("\"odata.etag\": "));
        json_forms_write_text(out, etag);
        buf_append(out, STR_LITERAL(", "));
    }
    buf_append(out, STR_LITERAL("\"PartitionKey\": "));
    json_forms_write_text(out, entity->key.partition);
    write_member(out, STR_LITERAL("RowKey"));
    json_forms_write_text(out, entity->key.row);
    if (entity->timestamp > 0) {
        write_member(out, STR_LITERAL("Timestamp"));
        entity_json_write_time(out, entity->timestamp, DATETIME_ALL_DIGITS);
    }
    if (entity->expires > 0) {
        write_member(out, ENTITY_JSON_EXPIRES);
        entity_json_write_time(out, entity->expires, DATETIME_NEEDED_DIGITS);
    }
    while (property_next(&rest, &property)) {
        if (entity_json_needs_annotation(&property.value))
            write_annotation(out, property.name, property.value.type);
        write_member(out, property.name);
        entity_json_write_value(out, &property.value);
    }
    buf_append_byte(out, '}');
}
