/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_json.c - see the header. Each property becomes a map entry {1: name, 2: Value}, as in a request;
 * then property_list_parse checks all of them.
 */
#include "api/json/entity_json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "api/json/json_forms.h"
#include "base/base64url.h"
#include "base/digits.h"
#include "base/macros.h"
#include "base/wire.h"
#include "domain/reason.h"

static const struct str annotation = STR_LITERAL("@odata.type"), metadata = STR_LITERAL("odata.");

/* Whether the name ends with the text. */
static bool ends_with(struct str name, struct str text)
{
    return name.len > text.len && str_equal(str_from(name, name.len - text.len), text);
}

static struct str text_of(const json_t *json)
{
    return str_of_bytes(json_string_value(json), json_string_length(json));
}

/* ---- values into the fields of a Value message ---- */

static bool put_integer(enum property_type type, const json_t *json, struct buf *out)
{
    int64_t min = type == PROPERTY_INT32 ? INT32_MIN : INT64_MIN,
            max = type == PROPERTY_INT32 ? INT32_MAX : INT64_MAX;
    int64_t integer = json_integer_value(json);

    if (json_is_string(json) ? !digits_parse_signed(text_of(json), min, max, &integer)
                             : !json_is_integer(json) || integer < min || integer > max)
        return false;
    wire_write_scalar(out, (uint32_t)type, wire_zigzag(integer));
    return true;
}

static bool put_double(const json_t *json, struct buf *out)
{
    double number = json_number_value(json);
    uint64_t bits;

    if (!json_is_number(json) && (!json_is_string(json) || !json_forms_read_double(text_of(json), &number)))
        return false;
    memcpy(&bits, &number, sizeof(bits));
    wire_write_tag(out, PROPERTY_DOUBLE, WIRE_FIXED64);
    wire_write_number(out, WIRE_FIXED64, bits);
    return true;
}

static bool put_boolean(const json_t *json, struct buf *out)
{
    bool is_true = json_is_string(json) ? str_equal(text_of(json), STR_LITERAL("true")) : json_is_true(json);

    if (!json_is_boolean(json) && !is_true &&
        !(json_is_string(json) && str_equal(text_of(json), STR_LITERAL("false"))))
        return false;
    wire_write_scalar(out, PROPERTY_BOOLEAN, is_true);
    return true;
}

static bool put_datetime(const json_t *json, struct arena *arena, struct buf *out)
{
    struct buf inner;
    int64_t seconds;
    int32_t nanos;

    if (!json_is_string(json) || !json_forms_read_timestamp(text_of(json), &seconds, &nanos))
        return false;
    buf_init(&inner, arena);
    wire_write_scalar(&inner, 1, (uint64_t)seconds);
    wire_write_scalar(&inner, 2, (uint64_t)nanos);
    wire_write_bytes(out, PROPERTY_DATETIME, buf_str(&inner));
    return true;
}

static bool put_binary(const json_t *json, struct arena *arena, struct buf *out)
{
    struct str bytes;

    if (!json_is_string(json) || !json_forms_read_bytes(text_of(json), arena, &bytes))
        return false;
    wire_write_bytes(out, PROPERTY_BINARY, bytes);
    return true;
}

static bool put_value(enum property_type type, const json_t *json, struct arena *arena, struct buf *out)
{
    switch (type) {
    case PROPERTY_STRING:
    case PROPERTY_GUID:
        if (json_is_string(json))
            wire_write_bytes(out, (uint32_t)type, text_of(json));
        return json_is_string(json);
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

/* The type of a name; PROPERTY_NULL: there is no such type. */
static enum property_type find_type(struct str name)
{
    struct str bare = str_starts_with(name, STR_LITERAL("Edm.")) ? str_from(name, 4) : name;

    for (enum property_type type = PROPERTY_STRING; type <= PROPERTY_BINARY; type++) {
        const char *known = property_type_short_name(type);

        if (str_equal_any_case(bare, str_of(known)))
            return type;
    }
    return PROPERTY_NULL;
}

static enum property_type type_of_json(const json_t *json)
{
    int64_t integer = json_integer_value(json);

    if (json_is_string(json))
        return PROPERTY_STRING;
    if (json_is_boolean(json))
        return PROPERTY_BOOLEAN;
    if (json_is_integer(json) && integer >= INT32_MIN && integer <= INT32_MAX)
        return PROPERTY_INT32;
    return json_is_number(json) ? PROPERTY_DOUBLE : PROPERTY_NULL;
}

/* ---- properties ---- */

static enum status read_type(struct str name, const json_t *given, enum property_type *out, struct error *err)
{
    *out = json_is_string(given) ? find_type(text_of(given)) : PROPERTY_NULL;
    if (*out != PROPERTY_NULL)
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT,
        "%.*s: its type must be one of Edm.String, Edm.Boolean, Edm.Int32, Edm.Int64, Edm.Double, "
        "Edm.DateTime, "
        "Edm.Guid and Edm.Binary",
        STR_ARG(name));
}

/* Read a property as a map entry. */
static enum status read_property(struct str name, enum property_type type, const json_t *json,
    struct arena *arena, struct str *out, struct error *err)
{
    struct buf value, entry;

    buf_init(&value, arena);
    buf_init(&entry, arena);
    if (!put_value(type, json, arena, &value))
        return type == PROPERTY_NULL
                   ? reason_set(err, REASON_INVALID_INPUT,
                         "%.*s: a property is text, a number, true or false, not an object or a list",
                         STR_ARG(name))
                   : reason_set(err, REASON_INVALID_INPUT, "%.*s: the value is not a valid %s", STR_ARG(name),
                         property_type_name(type));
    wire_write_bytes(&entry, 1, name);
    wire_write_bytes(&entry, 2, buf_str(&value));
    *out = buf_str(&entry);
    return STATUS_OK;
}

enum status entity_json_read_text(struct str name, struct str type, struct str text, struct arena *arena,
    struct str *slice, struct error *err)
{
    json_t *given = json_stringn(type.data, type.len), *value = json_stringn(text.data, text.len);
    enum property_type found;
    enum status status = STATUS_INVALID;

    if (!given || !value)
        status = reason_set(err, REASON_INVALID_INPUT, "%.*s: the text is not UTF-8", STR_ARG(name));
    else if (read_type(name, given, &found, err) == STATUS_OK)
        status = read_property(name, found, value, arena, slice, err);
    json_decref(given);
    json_decref(value);
    return status;
}

/* ---- entities ---- */

/* Find the type of a member: the declared one, or the one that follows from its JSON value. */
static enum status find_type_of(json_t *entity, struct str name, const json_t *value, struct arena *arena,
    enum property_type *out, struct error *err)
{
    const json_t *given = json_object_get(entity, arena_format(arena, "%.*s@odata.type", STR_ARG(name)).data);

    *out = type_of_json(value);
    return given ? read_type(name, given, out, err) : STATUS_OK;
}

static bool is_property(struct str name, const json_t *value)
{
    return !json_is_null(value) && !ends_with(name, annotation) && !str_starts_with(name, metadata) &&
           !str_equal(name, STR_LITERAL("PartitionKey")) && !str_equal(name, STR_LITERAL("RowKey")) &&
           !str_equal(name, STR_LITERAL("Timestamp"));
}

static enum status read_key(json_t *entity, struct arena *arena, struct entity_key *out, struct error *err)
{
    const json_t *partition = json_object_get(entity, "PartitionKey"),
                 *row = json_object_get(entity, "RowKey");

    if (!json_is_string(partition) || !json_is_string(row))
        return reason_set(err, REASON_PROPERTIES_NEED_VALUE,
            "%s is missing or not text: an entity needs both keys",
            json_is_string(partition) ? "RowKey" : "PartitionKey");
    return entity_key_parse(arena_copy(arena, text_of(partition)), arena_copy(arena, text_of(row)), out, err);
}

/* Read key and properties. key NULL: members have the key. */
static enum status read_entity(
    json_t *json, const struct entity_key *key, struct arena *arena, struct entity *out, struct error *err)
{
    struct str *slices = ARENA_ARRAY(arena, struct str, json_object_size(json) + 1);
    const char *name;
    size_t name_len, count = 0;
    json_t *value;

    if (key)
        out->key = *key;
    else
        TRY(read_key(json, arena, &out->key, err));
    json_object_keylen_foreach(json, name, name_len, value)
    {
        struct str property = str_of_bytes(name, name_len);
        enum property_type type;

        if (!is_property(property, value))
            continue;
        TRY(find_type_of(json, property, value, arena, &type, err));
        TRY(read_property(property, type, value, arena, &slices[count++], err));
    }
    return property_list_parse(slices, count, &out->key, arena, &out->properties, err);
}

/* ---- texts ---- */

/* The length of the number or string that begins at `at`; 1 for anything else. */
static size_t token_bytes(struct str text, size_t at)
{
    size_t end = at + 1;

    if (text.data[at] == '"') {
        while (end < text.len && text.data[end] != '"')
            end += text.data[end] == '\\' ? 2 : 1;
        return (end < text.len ? end + 1 : text.len) - at;
    }
    if (text.data[at] == '-' || digits_is_decimal(text.data[at]))
        while (end < text.len && (digits_is_decimal(text.data[end]) || memchr("+-.eE", text.data[end], 5)))
            end++;
    return end - at;
}

/*
 * Append an exponent to each whole number that exceeds 64 bits, since Jansson refuses such numbers. With the
 * exponent they are doubles.
 */
static struct str mark_large_numbers(struct str text, struct arena *arena)
{
    struct buf out;
    int64_t ignored;

    buf_init(&out, arena);
    for (size_t at = 0; at < text.len;) {
        struct str token = str_of_bytes(text.data + at, token_bytes(text, at));

        buf_append(&out, token);
        if ((token.data[0] == '-' || digits_is_decimal(token.data[0])) && token.len > 18 &&
            !memchr(token.data, '.', token.len) && !memchr(token.data, 'e', token.len) &&
            !memchr(token.data, 'E', token.len) &&
            !digits_parse_signed(token, INT64_MIN, INT64_MAX, &ignored))
            buf_append(&out, STR_LITERAL("e0"));
        at += token.len;
    }
    return buf_str(&out);
}

static json_t *load(struct str text, json_error_t *wrong)
{
    return json_loadb(
        text.len > 0 ? text.data : "", text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, wrong);
}

/* Parse a JSON object. The caller releases *out with json_decref. */
static enum status load_object(struct str text, struct arena *arena, json_t **out, struct error *err)
{
    json_error_t wrong;
    json_t *json = load(text, &wrong);

    if (!json && json_error_code(&wrong) == json_error_numeric_overflow)
        json = load(mark_large_numbers(text, arena), &wrong);
    if (!json)
        return reason_set(err,
            json_error_code(&wrong) == json_error_duplicate_key ? REASON_DUPLICATE_PROPERTIES_SPECIFIED
                                                                : REASON_INVALID_INPUT,
            "line %d, column %d of the JSON: %s", wrong.line, wrong.column, wrong.text);
    if (!json_is_object(json)) {
        json_decref(json);
        return reason_set(err, REASON_INVALID_INPUT, "a JSON object is required");
    }
    *out = json;
    return STATUS_OK;
}

static enum status read_text(
    struct str text, const struct entity_key *key, struct arena *arena, struct entity *out, struct error *err)
{
    enum status status;
    json_t *json;

    *out = (struct entity){ .expires = 0 };
    TRY(load_object(text, arena, &json, err));
    status = read_entity(json, key, arena, out, err);
    json_decref(json);
    return status;
}

enum status entity_json_read(struct str text, struct arena *arena, struct entity *out, struct error *err)
{
    return read_text(text, NULL, arena, out, err);
}

enum status entity_json_read_at(
    struct str text, const struct entity_key *key, struct arena *arena, struct entity *out, struct error *err)
{
    return read_text(text, key, arena, out, err);
}

enum status entity_json_read_member(
    struct str text, const char *name, struct arena *arena, struct str *out, struct error *err)
{
    json_t *json, *member;
    enum status status;

    TRY(load_object(text, arena, &json, err));
    member = json_object_get(json, name);
    if (json_is_string(member))
        *out = arena_copy(arena, text_of(member));
    else
        (void)reason_set(err, REASON_PROPERTIES_NEED_VALUE, "%s is missing or not text", name);
    status = json_is_string(member) ? STATUS_OK : STATUS_INVALID;
    json_decref(json);
    return status;
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
    while (property_next(&rest, &property)) {
        if (entity_json_needs_annotation(&property.value))
            write_annotation(out, property.name, property.value.type);
        write_member(out, property.name);
        entity_json_write_value(out, &property.value);
    }
    buf_append_byte(out, '}');
}
