/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_write.c - see the header. The bytes are read once for each field that the message declares, because the
 * occurrences of a field need not lie together: messages have few fields.
 */
#include "api/json/json_write.h"

#include <string.h>

#include "api/json/json_forms.h"
#include "base/wire.h"
#include "domain/text.h"

enum { MAX_DEPTH = 100 };

struct writer {
    const struct schema *schema;
    struct buf *out;
    int indent, depth;
};

/* These functions return false if the bytes do not match the schema. */
static bool write_message(struct writer *writer, const struct schema_message *message, struct str bytes);

/* ---- layout ---- */

static void begin_item(struct writer *writer, bool *is_first)
{
    if (!*is_first)
        buf_append_byte(writer->out, ',');
    *is_first = false;
    if (writer->indent > 0)
        buf_format(writer->out, "\n%*s", writer->indent * writer->depth, "");
}

static void open_items(struct writer *writer, char bracket)
{
    buf_append_byte(writer->out, (uint8_t)bracket);
    writer->depth++;
}

static void close_items(struct writer *writer, char bracket, bool is_empty)
{
    writer->depth--;
    if (!is_empty && writer->indent > 0)
        buf_format(writer->out, "\n%*s", writer->indent * writer->depth, "");
    buf_append_byte(writer->out, (uint8_t)bracket);
}

static void write_name(struct writer *writer, struct str name)
{
    json_forms_write_text(writer->out, name);
    buf_append(writer->out, writer->indent > 0 ? STR_LITERAL(": ") : STR_LITERAL(":"));
}

/* ---- scalars ---- */

static double double_of(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static float float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float number;

    memcpy(&number, &low, sizeof(number));
    return number;
}

static void write_enum(struct writer *writer, const struct schema_enum *type, int32_t number)
{
    for (size_t i = 0; type && i < type->count; i++)
        if (type->values[i].number == number) {
            json_forms_write_text(writer->out, type->values[i].name);
            return;
        }
    buf_format(writer->out, "%d", number);
}

static bool write_text(struct writer *writer, struct str text)
{
    if (!text_check(text, NULL, NULL))
        return false;
    json_forms_write_text(writer->out, text);
    return true;
}

static bool write_bytes_field(struct writer *writer, const struct schema_field *field, struct str bytes)
{
    switch (field->type) {
    case SCHEMA_STRING:
        return write_text(writer, bytes);
    case SCHEMA_BYTES:
        buf_append_byte(writer->out, '"');
        json_forms_write_bytes(writer->out, bytes);
        buf_append_byte(writer->out, '"');
        return true;
    case SCHEMA_MESSAGE:
        return write_message(writer, field->message, bytes);
    default:
        return false;
    }
}

static bool write_number(struct writer *writer, const struct schema_field *field, uint64_t bits)
{
    switch (field->type) {
    case SCHEMA_DOUBLE:
        json_forms_write_double(writer->out, double_of(bits));
        return true;
    case SCHEMA_FLOAT:
        json_forms_write_float(writer->out, float_of(bits));
        return true;
    case SCHEMA_INT64:
    case SCHEMA_SFIXED64:
        buf_format(writer->out, "\"%lld\"", (long long)bits);
        return true;
    case SCHEMA_SINT64:
        buf_format(writer->out, "\"%lld\"", (long long)wire_unzigzag(bits));
        return true;
    case SCHEMA_UINT64:
    case SCHEMA_FIXED64:
        buf_format(writer->out, "\"%llu\"", (unsigned long long)bits);
        return true;
    case SCHEMA_INT32:
    case SCHEMA_SFIXED32:
        buf_format(writer->out, "%d", (int32_t)bits);
        return true;
    case SCHEMA_SINT32:
        buf_format(writer->out, "%d", (int32_t)wire_unzigzag(bits));
        return true;
    case SCHEMA_UINT32:
    case SCHEMA_FIXED32:
        buf_format(writer->out, "%u", (uint32_t)bits);
        return true;
    case SCHEMA_BOOL:
        buf_append(writer->out, bits ? STR_LITERAL("true") : STR_LITERAL("false"));
        return true;
    case SCHEMA_ENUM:
        write_enum(writer, field->values, (int32_t)bits);
        return true;
    default:
        return false;
    }
}

static bool write_value(
    struct writer *writer, const struct schema_field *field, const struct wire_field *value)
{
    if (value->type != schema_wire_type(field->type))
        return false;
    return value->type == WIRE_BYTES ? write_bytes_field(writer, field, value->bytes)
                                     : write_number(writer, field, value->scalar);
}

static bool is_default(const struct wire_field *value)
{
    return value->type == WIRE_BYTES ? value->bytes.len == 0 : value->scalar == 0;
}

/* ---- repeated fields and maps ---- */

static bool write_packed(
    struct writer *writer, const struct schema_field *field, struct str packed, bool *is_first)
{
    struct wire_field value = { .type = schema_wire_type(field->type) };

    while (packed.len > 0) {
        if (!wire_read_number(&packed, value.type, &value.scalar))
            return false;
        begin_item(writer, is_first);
        if (!write_value(writer, field, &value))
            return false;
    }
    return true;
}

/* Write the key of a map, which is text in JSON. */
static bool write_key(struct writer *writer, const struct schema_field *key, const struct wire_field *value)
{
    bool in_quotes = key->type == SCHEMA_STRING || schema_wire_type(key->type) == WIRE_FIXED64 ||
                     key->type == SCHEMA_INT64 || key->type == SCHEMA_UINT64 || key->type == SCHEMA_SINT64;

    if (!in_quotes)
        buf_append_byte(writer->out, '"');
    if (!write_value(writer, key, value))
        return false;
    if (!in_quotes)
        buf_append_byte(writer->out, '"');
    buf_append(writer->out, writer->indent > 0 ? STR_LITERAL(": ") : STR_LITERAL(":"));
    return true;
}

static bool write_entry(struct writer *writer, const struct schema_field *map, struct str bytes)
{
    const struct schema_field *key_field = schema_map_key(map), *value_field = schema_map_value(map);
    struct wire_field key = { .type = schema_wire_type(key_field->type) },
                      value = { .type = schema_wire_type(value_field->type) }, field;
    enum wire_result result;

    while ((result = wire_read_field(&bytes, &field)) == WIRE_FIELD) {
        if (field.number == key_field->number)
            key = field;
        else if (field.number == value_field->number)
            value = field;
    }
    return result == WIRE_END && write_key(writer, key_field, &key) &&
           write_value(writer, value_field, &value);
}

static bool write_element(
    struct writer *writer, const struct schema_field *field, const struct wire_field *value, bool *is_first)
{
    if (value->type == WIRE_BYTES && schema_wire_type(field->type) != WIRE_BYTES)
        return write_packed(writer, field, value->bytes, is_first);
    begin_item(writer, is_first);
    if (schema_is_map(field))
        return value->type == WIRE_BYTES && write_entry(writer, field, value->bytes);
    return write_value(writer, field, value);
}

/* ---- fields ---- */

static bool write_repeated(
    struct writer *writer, const struct schema_field *field, struct str bytes, bool *is_first)
{
    bool is_map = schema_is_map(field), is_first_element = true;
    struct wire_field value;

    while (wire_find_field(&bytes, field->number, &value)) {
        if (is_first_element) {
            begin_item(writer, is_first);
            write_name(writer, field->json_name);
            open_items(writer, is_map ? '{' : '[');
        }
        if (!write_element(writer, field, &value, &is_first_element))
            return false;
    }
    if (!is_first_element)
        close_items(writer, is_map ? '}' : ']', false);
    return true;
}

/*
 * Find the value of a field: its last occurrence. The occurrences of a message are parts of one message, and
 * are joined in `joined`.
 */
static bool find_value(
    const struct schema_field *field, struct str bytes, struct buf *joined, struct wire_field *out)
{
    struct wire_field value;
    int count = 0;

    while (wire_find_field(&bytes, field->number, &value)) {
        if (field->message && count > 0 && value.type == WIRE_BYTES && out->type == WIRE_BYTES) {
            if (count == 1)
                buf_append(joined, out->bytes);
            buf_append(joined, value.bytes);
            value.bytes = buf_str(joined);
        }
        *out = value;
        count++;
    }
    return count > 0;
}

static bool write_single(
    struct writer *writer, const struct schema_field *field, struct str bytes, bool *is_first)
{
    bool has_presence = field->is_optional || field->oneof >= 0 || field->message;
    struct wire_field value;
    struct buf joined;
    bool written = true;

    buf_init(&joined, NULL);
    if (find_value(field, bytes, &joined, &value) && (has_presence || !is_default(&value))) {
        begin_item(writer, is_first);
        write_name(writer, field->json_name);
        written = write_value(writer, field, &value);
    }
    buf_cleanup(&joined);
    return written;
}

/* Write the fields without the braces. */
static bool write_fields(
    struct writer *writer, const struct schema_message *message, struct str bytes, bool *is_first)
{
    for (size_t i = 0; i < message->count; i++) {
        const struct schema_field *field = &message->fields[i];

        if (!(field->is_repeated ? write_repeated : write_single)(writer, field, bytes, is_first))
            return false;
    }
    return true;
}

static bool is_well_formed(struct str bytes)
{
    struct wire_field field;
    enum wire_result result;

    while ((result = wire_read_field(&bytes, &field)) == WIRE_FIELD)
        continue;
    return result == WIRE_END;
}

/* ---- messages ---- */

/* Write a Timestamp or a Duration: seconds is field 1, nanos field 2. */
static bool write_time(struct writer *writer, enum schema_form form, struct str bytes)
{
    struct wire_field field;
    int64_t seconds = 0;
    int32_t nanos = 0;
    bool written;

    while (wire_read_field(&bytes, &field) == WIRE_FIELD) {
        if (field.number == 1)
            seconds = (int64_t)field.scalar;
        else if (field.number == 2)
            nanos = (int32_t)field.scalar;
    }
    buf_append_byte(writer->out, '"');
    written = form == SCHEMA_TIMESTAMP ? json_forms_write_timestamp(writer->out, seconds, nanos)
                                       : json_forms_write_duration(writer->out, seconds, nanos);
    buf_append_byte(writer->out, '"');
    return written;
}

static bool write_field_mask(struct writer *writer, struct str bytes)
{
    struct wire_field field;
    bool is_first = true;

    buf_append_byte(writer->out, '"');
    while (wire_find_field(&bytes, 1, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (!is_first)
            buf_append_byte(writer->out, ',');
        is_first = false;
        if (!json_forms_write_path(writer->out, field.bytes))
            return false;
    }
    buf_append_byte(writer->out, '"');
    return true;
}

/* Write the value of an Any. If the API does not have the type, the value is written as bytes. */
static bool write_any_value(struct writer *writer, struct str type, struct str value, bool *is_first)
{
    const struct schema_message *message = schema_find_message(writer->schema, type);

    if (message && message->form == SCHEMA_PLAIN)
        return write_fields(writer, message, value, is_first);
    begin_item(writer, is_first);
    write_name(writer, STR_LITERAL("value"));
    if (message)
        return write_message(writer, message, value);
    buf_append_byte(writer->out, '"');
    json_forms_write_bytes(writer->out, value);
    buf_append_byte(writer->out, '"');
    return true;
}

static bool write_any(struct writer *writer, struct str bytes)
{
    struct str url = STR_EMPTY, value = STR_EMPTY;
    struct wire_field field;
    bool is_first = true, written;

    while (wire_read_field(&bytes, &field) == WIRE_FIELD) {
        if (field.number == 1 && field.type == WIRE_BYTES)
            url = field.bytes;
        else if (field.number == 2 && field.type == WIRE_BYTES)
            value = field.bytes;
    }
    open_items(writer, '{');
    begin_item(writer, &is_first);
    write_name(writer, STR_LITERAL("@type"));
    written = write_text(writer, url) && is_well_formed(value) &&
              write_any_value(writer, str_behind_last(url, '/'), value, &is_first);
    close_items(writer, '}', is_first);
    return written;
}

static bool write_plain(struct writer *writer, const struct schema_message *message, struct str bytes)
{
    bool is_first = true;

    open_items(writer, '{');
    if (!write_fields(writer, message, bytes, &is_first))
        return false;
    close_items(writer, '}', is_first);
    return true;
}

static bool write_message(struct writer *writer, const struct schema_message *message, struct str bytes)
{
    if (writer->depth >= MAX_DEPTH || !message || !is_well_formed(bytes))
        return false;
    switch (message->form) {
    case SCHEMA_TIMESTAMP:
    case SCHEMA_DURATION:
        return write_time(writer, message->form, bytes);
    case SCHEMA_FIELD_MASK:
        return write_field_mask(writer, bytes);
    case SCHEMA_ANY:
        return write_any(writer, bytes);
    case SCHEMA_PLAIN:
    case SCHEMA_MAP_ENTRY:
        break;
    }
    return write_plain(writer, message, bytes);
}

enum status json_write_message(const struct schema *schema, const struct schema_message *message,
    struct str bytes, int indent, struct buf *out, struct error *err)
{
    struct writer writer = { .schema = schema, .out = out, .indent = indent };

    if (write_message(&writer, message, bytes))
        return STATUS_OK;
    return error_set(err, STATUS_INTERNAL, "these %zu bytes are not a well-formed %.*s", bytes.len,
        STR_ARG(message->name));
}
