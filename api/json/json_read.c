/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_read.c - see the header. The text is parsed by Jansson, which distinguishes whole numbers from others,
 * reads doubles exactly, refuses a repeated name, and bounds the depth; then each value is written in the
 * wire format.
 */
#include "api/json/json_read.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_forms.h"
#include "base/digits.h"
#include "base/macros.h"
#include "base/wire.h"
#include "domain/reason.h"

enum { MAX_DEPTH = 100, MAX_PATH_BYTES = 200 };

/* The path of a value: a name or an index, and the path of the value that contains it. */
struct path {
    const struct path *up; /* NULL: the message that is read contains it */
    struct str name;       /* empty: an element of a list */
    size_t position;
    int depth;
};

struct reader {
    const struct schema *schema;
    struct arena arena;
    struct error *err;
};

static enum status read_message(struct reader *reader, const struct schema_message *message, json_t *json,
    const struct path *path, struct buf *out);

/* ---- errors ---- */

static void write_path(struct buf *out, const struct path *path)
{
    if (path->up)
        write_path(out, path->up);
    if (path->name.len == 0)
        buf_format(out, "[%zu]", path->position);
    else
        buf_format(out, "%s%.*s", out->len > 0 ? "." : "", STR_ARG(path->name));
}

static enum status refuse_value(const struct reader *reader, const struct path *path, const char *wanted)
{
    struct buf text;
    enum status status;

    buf_init(&text, NULL);
    if (path)
        write_path(&text, path);
    if (text.len > MAX_PATH_BYTES)
        text.len = MAX_PATH_BYTES;
    status = reason_set(reader->err, REASON_INVALID_INPUT, "%.*s: %s",
        STR_ARG(text.len > 0 ? buf_str(&text) : STR_LITERAL("the message")), wanted);
    buf_cleanup(&text);
    return status;
}

/* ---- scalars ---- */

static struct str text_of(const json_t *json)
{
    return str_of_bytes(json_string_value(json), json_string_length(json));
}

static bool read_signed(const json_t *json, int64_t min, int64_t max, uint64_t *out)
{
    double number = json_is_real(json) ? json_real_value(json) : 0;
    int64_t integer = 0;

    if (json_is_integer(json))
        integer = json_integer_value(json);
    else if (json_is_real(json) && number == floor(number) && fabs(number) < 0x1p63)
        integer = (int64_t)number;
    else if (!json_is_string(json) || !digits_parse_signed(text_of(json), min, max, &integer))
        return false;
    *out = (uint64_t)integer;
    return integer >= min && integer <= max;
}

static bool read_unsigned(const json_t *json, uint64_t max, uint64_t *out)
{
    double number = json_is_real(json) ? json_real_value(json) : 0;

    if (json_is_string(json))
        return digits_parse_unsigned(text_of(json), max, out);
    if (json_is_real(json) && number == floor(number) && number >= 0 && number < 0x1p64)
        *out = (uint64_t)number;
    else if (json_is_integer(json) && json_integer_value(json) >= 0)
        *out = (uint64_t)json_integer_value(json);
    else
        return false;
    return *out <= max;
}

static bool read_double(const json_t *json, double *out)
{
    if (json_is_string(json))
        return json_forms_read_double(text_of(json), out);
    *out = json_number_value(json);
    return json_is_number(json);
}

static bool read_double_bits(const json_t *json, uint64_t *out)
{
    double number;

    if (!read_double(json, &number))
        return false;
    memcpy(out, &number, sizeof(number));
    return true;
}

static bool read_float_bits(const json_t *json, uint64_t *out)
{
    double number;
    float narrow;
    uint32_t bits;

    if (!read_double(json, &number) || (isfinite(number) && fabs(number) > (double)__FLT_MAX__))
        return false;
    narrow = (float)number;
    memcpy(&bits, &narrow, sizeof(bits));
    *out = bits;
    return true;
}

static bool read_enum(const struct schema_enum *type, const json_t *json, uint64_t *out)
{
    struct str name = json_is_string(json) ? text_of(json) : STR_EMPTY;

    for (size_t i = 0; name.len > 0 && i < type->count; i++)
        if (str_equal(type->values[i].name, name)) {
            *out = (uint64_t)(int64_t)type->values[i].number;
            return true;
        }
    return !json_is_string(json) && read_signed(json, INT32_MIN, INT32_MAX, out);
}

/* Read a Boolean. As the key of a map it is text. */
static bool read_bool(const json_t *json, bool is_key, uint64_t *out)
{
    struct str text = is_key ? text_of(json) : STR_EMPTY;

    *out = is_key ? str_equal(text, STR_LITERAL("true")) : json_is_true(json);
    return is_key ? *out || str_equal(text, STR_LITERAL("false")) : json_is_boolean(json);
}

/* The kinds of numbers, which differ in how they are read, encoded and bounded. */
enum number_kind { KIND_SIGNED, KIND_UNSIGNED, KIND_DOUBLE, KIND_FLOAT, KIND_BOOL, KIND_ENUM };

static const struct number_type {
    enum number_kind kind;
    enum wire_type wire;
    bool is_zigzag;
    int64_t min;
    uint64_t max;
    const char *wanted;
} number_types[SCHEMA_TYPES] = {
    [SCHEMA_DOUBLE] = { KIND_DOUBLE, WIRE_FIXED64, false, 0, 0,
        "want a number, \"NaN\", \"Infinity\" or \"-Infinity\"" },
    [SCHEMA_FLOAT] = { KIND_FLOAT, WIRE_FIXED32, false, 0, 0,
        "want a number of 32 bits, \"NaN\", \"Infinity\" or \"-Infinity\"" },
    [SCHEMA_INT64] = { KIND_SIGNED, WIRE_VARINT, false, INT64_MIN, INT64_MAX,
        "want an integer of 64 bits, as a number or text" },
    [SCHEMA_UINT64] = { KIND_UNSIGNED, WIRE_VARINT, false, 0, UINT64_MAX,
        "want an integer from 0 to 2^64 - 1, as a number or text" },
    [SCHEMA_INT32] = { KIND_SIGNED, WIRE_VARINT, false, INT32_MIN, INT32_MAX, "want an integer of 32 bits" },
    [SCHEMA_FIXED64] = { KIND_UNSIGNED, WIRE_FIXED64, false, 0, UINT64_MAX,
        "want an integer from 0 to 2^64 - 1, as a number or text" },
    [SCHEMA_FIXED32] = { KIND_UNSIGNED, WIRE_FIXED32, false, 0, UINT32_MAX,
        "want an integer from 0 to 2^32 - 1" },
    [SCHEMA_BOOL] = { KIND_BOOL, WIRE_VARINT, false, 0, 0, "want true or false" },
    [SCHEMA_UINT32] = { KIND_UNSIGNED, WIRE_VARINT, false, 0, UINT32_MAX,
        "want an integer from 0 to 2^32 - 1" },
    [SCHEMA_ENUM] = { KIND_ENUM, WIRE_VARINT, false, 0, 0, "want the name of a value, or its number" },
    [SCHEMA_SFIXED32] = { KIND_SIGNED, WIRE_FIXED32, false, INT32_MIN, INT32_MAX,
        "want an integer of 32 bits" },
    [SCHEMA_SFIXED64] = { KIND_SIGNED, WIRE_FIXED64, false, INT64_MIN, INT64_MAX,
        "want an integer of 64 bits, as a number or text" },
    [SCHEMA_SINT32] = { KIND_SIGNED, WIRE_VARINT, true, INT32_MIN, INT32_MAX, "want an integer of 32 bits" },
    [SCHEMA_SINT64] = { KIND_SIGNED, WIRE_VARINT, true, INT64_MIN, INT64_MAX,
        "want an integer of 64 bits, as a number or text" },
};

static bool read_number(const struct schema_field *field, const json_t *json, bool is_key, uint64_t *out)
{
    const struct number_type *type = &number_types[field->type];

    switch (type->kind) {
    case KIND_SIGNED:
        return read_signed(json, type->min, (int64_t)type->max, out);
    case KIND_UNSIGNED:
        return read_unsigned(json, type->max, out);
    case KIND_DOUBLE:
        return read_double_bits(json, out);
    case KIND_FLOAT:
        return read_float_bits(json, out);
    case KIND_BOOL:
        return read_bool(json, is_key, out);
    case KIND_ENUM:
        return read_enum(field->values, json, out);
    }
    return false;
}

/* Append a number without its tag. */
static void write_number(const struct number_type *type, uint64_t bits, struct buf *out)
{
    wire_write_number(out, type->wire, type->is_zigzag ? wire_zigzag((int64_t)bits) : bits);
}

/* ---- values ---- */

static bool is_number(const struct schema_field *field)
{
    return field->type != SCHEMA_STRING && field->type != SCHEMA_BYTES && field->type != SCHEMA_MESSAGE;
}

static enum status read_text(struct reader *reader, const struct schema_field *field, const json_t *json,
    const struct path *path, struct str *out)
{
    if (!json_is_string(json))
        return refuse_value(
            reader, path, field->type == SCHEMA_BYTES ? "want bytes as text in base64" : "want text");
    *out = text_of(json);
    if (field->type == SCHEMA_BYTES && !json_forms_read_bytes(*out, &reader->arena, out))
        return refuse_value(reader, path, "want bytes as text in base64");
    return STATUS_OK;
}

/*
 * Refuse a value of an enum: "want one of INDEX_SHAPE_COPY, INDEX_SHAPE_LIST, or its number". The value 0 is
 * left out, since it means that the field is not set.
 */
static enum status refuse_enum(struct reader *reader, const struct schema_enum *type, const struct path *path)
{
    bool is_first = true;
    struct buf text;

    buf_init(&text, &reader->arena);
    buf_append(&text, STR_LITERAL("want one of"));
    for (size_t i = 0; i < type->count; i++) {
        if (type->values[i].number == 0)
            continue;
        buf_format(&text, "%s %.*s", is_first ? "" : ",", STR_ARG(type->values[i].name));
        is_first = false;
    }
    buf_append_byte(&text, '\0');
    return refuse_value(reader, path, text.data);
}

static enum status refuse_number(
    struct reader *reader, const struct schema_field *field, const struct path *path)
{
    return field->values ? refuse_enum(reader, field->values, path)
                         : refuse_value(reader, path, number_types[field->type].wanted);
}

/* Read a value and append the field with its tag. presence: append it even if it has the default value. */
static enum status read_value(struct reader *reader, const struct schema_field *field, json_t *json,
    const struct path *path, bool presence, struct buf *out)
{
    uint64_t bits;
    struct str text;
    struct buf inner;

    if (is_number(field)) {
        if (!read_number(field, json, false, &bits))
            return refuse_number(reader, field, path);
        if (bits != 0 || presence) {
            wire_write_tag(out, field->number, number_types[field->type].wire);
            write_number(&number_types[field->type], bits, out);
        }
        return STATUS_OK;
    }
    if (field->type == SCHEMA_MESSAGE) {
        buf_init(&inner, &reader->arena);
        TRY(read_message(reader, field->message, json, path, &inner));
        wire_write_bytes(out, field->number, buf_str(&inner));
        return STATUS_OK;
    }
    TRY(read_text(reader, field, json, path, &text));
    if (text.len > 0 || presence)
        wire_write_bytes(out, field->number, text);
    return STATUS_OK;
}

/* Append the numbers of a list in packed form, which proto3 requires. */
static enum status read_numbers(struct reader *reader, const struct schema_field *field, json_t *list,
    const struct path *path, struct buf *out)
{
    struct buf packed;
    uint64_t bits;

    buf_init(&packed, &reader->arena);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct path at = { .up = path, .position = i, .depth = path->depth + 1 };

        if (!read_number(field, json_array_get(list, i), false, &bits))
            return refuse_number(reader, field, &at);
        write_number(&number_types[field->type], bits, &packed);
    }
    if (packed.len > 0)
        wire_write_bytes(out, field->number, buf_str(&packed));
    return STATUS_OK;
}

static enum status read_list(struct reader *reader, const struct schema_field *field, json_t *list,
    const struct path *path, struct buf *out)
{
    if (!json_is_array(list))
        return refuse_value(reader, path, "want a list");
    if (is_number(field))
        return read_numbers(reader, field, list, path, out);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct path at = { .up = path, .position = i, .depth = path->depth + 1 };

        TRY(read_value(reader, field, json_array_get(list, i), &at, true, out));
    }
    return STATUS_OK;
}

static enum status read_entry(struct reader *reader, const struct schema_field *map, struct str name,
    json_t *json, const struct path *path, struct buf *out)
{
    const struct schema_field *key = schema_map_key(map);
    json_t *text = json_stringn(name.data, name.len);
    struct buf entry;
    enum status status = STATUS_OK;
    uint64_t bits = 0;

    buf_init(&entry, &reader->arena);
    if (!is_number(key)) {
        wire_write_bytes(&entry, key->number, name);
    } else if (read_number(key, text, true, &bits)) {
        wire_write_tag(&entry, key->number, number_types[key->type].wire);
        write_number(&number_types[key->type], bits, &entry);
    } else {
        status = refuse_value(reader, path, "a key of this map must be a number or a boolean");
    }
    json_decref(text);
    TRY(status);
    TRY(read_value(reader, schema_map_value(map), json, path, true, &entry));
    wire_write_bytes(out, map->number, buf_str(&entry));
    return STATUS_OK;
}

static enum status read_map(struct reader *reader, const struct schema_field *field, json_t *map,
    const struct path *path, struct buf *out)
{
    const char *name;
    size_t name_len;
    json_t *value;

    if (!json_is_object(map))
        return refuse_value(reader, path, "want an object");
    json_object_keylen_foreach(map, name, name_len, value)
    {
        struct path at = { .up = path, .name = str_of_bytes(name, name_len), .depth = path->depth + 1 };

        if (json_is_null(value))
            return refuse_value(reader, &at, "a value of a map must not be null");
        TRY(read_entry(reader, field, at.name, value, &at, out));
    }
    return STATUS_OK;
}

/* ---- messages with a special JSON form ---- */

static enum status read_time(struct reader *reader, const struct schema_message *message, const json_t *json,
    const struct path *path, struct buf *out)
{
    bool is_timestamp = message->form == SCHEMA_TIMESTAMP;
    int64_t seconds = 0;
    int32_t nanos = 0;

    if (!json_is_string(json) || !(is_timestamp ? json_forms_read_timestamp(text_of(json), &seconds, &nanos)
                                                : json_forms_read_duration(text_of(json), &seconds, &nanos)))
        return refuse_value(reader, path,
            is_timestamp ? "want a time as text, such as \"2026-11-22T18:30:00.5Z\""
                         : "want a number of seconds as text, such as \"1.5s\"");
    if (seconds != 0)
        wire_write_scalar(out, 1, (uint64_t)seconds);
    if (nanos != 0)
        wire_write_scalar(out, 2, (uint64_t)(int64_t)nanos);
    return STATUS_OK;
}

static enum status read_field_mask(
    struct reader *reader, const json_t *json, const struct path *path, struct buf *out)
{
    struct str rest = json_is_string(json) ? text_of(json) : STR_EMPTY;

    if (!json_is_string(json))
        return refuse_value(reader, path, "want names of fields as text, with commas between them");
    while (rest.len > 0) {
        struct buf name;

        buf_init(&name, &reader->arena);
        if (!json_forms_read_path(&name, str_take(&rest, ',')))
            return refuse_value(
                reader, path, "want names of fields in lowerCamelCase, with commas between them");
        wire_write_bytes(out, 1, buf_str(&name));
    }
    return STATUS_OK;
}

static enum status read_fields(struct reader *reader, const struct schema_message *message, json_t *json,
    const struct path *path, struct buf *out);

static enum status read_any(struct reader *reader, json_t *json, const struct path *path, struct buf *out)
{
    const json_t *type = json_object_get(json, "@type");
    struct str url = json_is_string(type) ? text_of(type) : STR_EMPTY;
    const struct schema_message *message;
    struct buf value;

    message = schema_find_message(reader->schema, str_behind_last(url, '/'));
    if (!message)
        return refuse_value(reader, path,
            "want \"@type\", the URL of a known type, such as \"type.googleapis.com/tavola.v1.Entity\"");
    buf_init(&value, &reader->arena);
    wire_write_bytes(out, 1, url);
    if (message->form == SCHEMA_PLAIN) {
        json_object_del(json, "@type"); /* the remaining members are the fields */
        TRY(read_fields(reader, message, json, path, &value));
    } else {
        TRY(read_message(reader, message, json_object_get(json, "value"), path, &value));
    }
    if (value.len > 0)
        wire_write_bytes(out, 2, buf_str(&value));
    return STATUS_OK;
}

/* ---- other messages ---- */

static enum status read_field(struct reader *reader, const struct schema_field *field, json_t *json,
    const struct path *path, struct buf *out)
{
    if (schema_is_map(field))
        return read_map(reader, field, json, path, out);
    if (field->is_repeated)
        return read_list(reader, field, json, path, out);
    return read_value(reader, field, json, path, field->is_optional || field->oneof >= 0, out);
}

/* Refuse a name: "unknown field; Entity has partitionKey, rowKey, ..." */
static enum status refuse_name(
    struct reader *reader, const struct schema_message *message, const struct path *path)
{
    struct buf text;

    buf_init(&text, &reader->arena);
    buf_format(&text, "unknown field; %.*s has", STR_ARG(str_behind_last(message->name, '.')));
    for (size_t i = 0; i < message->count; i++)
        buf_format(&text, "%s %.*s", i > 0 ? "," : "", STR_ARG(message->fields[i].json_name));
    if (message->count == 0)
        buf_append(&text, STR_LITERAL(" none"));
    buf_append_byte(&text, '\0');
    return refuse_value(reader, path, text.data);
}

static enum status note_given(struct reader *reader, const struct schema_message *message,
    const struct schema_field *field, bool *given, const struct path *path)
{
    if (given[field - message->fields])
        return refuse_value(reader, path, "given twice, under both names of the field");
    given[field - message->fields] = true;
    for (size_t i = 0; field->oneof >= 0 && i < message->count; i++)
        if (given[i] && &message->fields[i] != field && message->fields[i].oneof == field->oneof)
            return refuse_value(reader, path, "another field of the same oneof is set too: set one of them");
    return STATUS_OK;
}

static enum status read_fields(struct reader *reader, const struct schema_message *message, json_t *json,
    const struct path *path, struct buf *out)
{
    bool *given = ARENA_ARRAY(&reader->arena, bool, message->count);
    const char *name;
    size_t name_len;
    json_t *value;

    json_object_keylen_foreach(json, name, name_len, value)
    {
        struct path at = {
            .up = path, .name = str_of_bytes(name, name_len), .depth = (path ? path->depth : 0) + 1
        };
        const struct schema_field *field = schema_find_field(message, at.name);

        if (!field)
            return refuse_name(reader, message, &at);
        if (json_is_null(value))
            continue;
        TRY(note_given(reader, message, field, given, &at));
        TRY(read_field(reader, field, value, &at, out));
    }
    return STATUS_OK;
}

static enum status read_message(struct reader *reader, const struct schema_message *message, json_t *json,
    const struct path *path, struct buf *out)
{
    if (path && path->depth > MAX_DEPTH)
        return refuse_value(reader, NULL, "nested over 100 levels");
    switch (message->form) {
    case SCHEMA_TIMESTAMP:
    case SCHEMA_DURATION:
        return read_time(reader, message, json, path, out);
    case SCHEMA_FIELD_MASK:
        return read_field_mask(reader, json, path, out);
    case SCHEMA_ANY:
        return json_is_object(json) ? read_any(reader, json, path, out)
                                    : refuse_value(reader, path, "want an object");
    case SCHEMA_PLAIN:
    case SCHEMA_MAP_ENTRY:
        break;
    }
    if (!json_is_object(json))
        return refuse_value(reader, path,
            str_equal(message->name, STR_LITERAL("tavola.v1.Value"))
                ? "want an object with the value's type, such as {\"int32Value\": 5} or {\"stringValue\": "
                  "\"a\"}"
                : "want an object");
    return read_fields(reader, message, json, path, out);
}

enum status json_read_message(const struct schema *schema, const struct schema_message *message,
    struct str text, struct buf *out, struct error *err)
{
    struct reader reader = { .schema = schema, .err = err };
    json_error_t wrong;
    json_t *json = json_loadb(text.len > 0 ? text.data : "", text.len,
        JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &wrong);
    enum status status;

    if (!json)
        return reason_set(err, REASON_INVALID_INPUT, "line %d, column %d of the JSON: %s", wrong.line,
            wrong.column, wrong.text);
    arena_init(&reader.arena);
    status = read_message(&reader, message, json, NULL, out);
    arena_cleanup(&reader.arena);
    json_decref(json);
    return status;
}
