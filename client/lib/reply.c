/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.c - the fields of a reply by their names. A reply stays as bytes; each look-up walks over them by the
 * schema that reflection serves.
 */
#include <stdlib.h>
#include <string.h>

#include "api/json/json_forms.h"
#include "api/json/json_write.h"
#include "base/wire.h"
#include "client/lib/any_call.h"
#include "client/lib/call_error.h"
#include "client/lib/session.h"

struct tavola_reply {
    struct arena arena;
    struct tavola_record record;
};

enum tavola_code tavola_ask(struct tavola *client, const struct tavola_question *question,
    struct tavola_reply **out, struct tavola_error *error)
{
    struct tavola_reply *reply = xcalloc(1, sizeof(*reply));
    const struct schema_method *method;
    struct tavola_error own;
    struct str bytes;

    error = call_error_begin(error, &own);
    arena_init(&reply->arena);
    method = any_call_find(question->method, error);
    if (!method || any_call_run(client, method, question, &reply->arena, &bytes, error) != TAVOLA_OK) {
        tavola_reply_free(reply);
        return error->code;
    }
    reply->record = (struct tavola_record){ method->output, bytes.data, bytes.len };
    *out = reply;
    return TAVOLA_OK;
}

struct tavola_record tavola_reply_record(const struct tavola_reply *reply)
{
    return reply->record;
}

void tavola_reply_free(struct tavola_reply *reply)
{
    if (!reply)
        return;
    arena_cleanup(&reply->arena);
    free(reply);
}

/* ---- paths ---- */

/* The field at the end of a path, and the message that holds it; NULL: the messages have no such field. */
static const struct schema_field *find_field(
    const struct tavola_record *record, const char *path, struct str *message)
{
    const struct schema_message *type = record->type;

    *message = str_of_bytes(record->data, record->size);
    while (type) {
        size_t len = strcspn(path, ".");
        const struct schema_field *field = schema_find_field(type, str_of_bytes(path, len));

        if (!field || !path[len])
            return field;
        *message = field->is_repeated ? STR_EMPTY : wire_find_bytes(*message, field->number);
        type = field->message;
        path += len + 1;
    }
    return NULL;
}

/* The values of a field one by one; numbers may be packed. */
struct values {
    const struct schema_field *field;
    struct str rest, packed;
};

static bool next_value(struct values *values, struct wire_field *out)
{
    enum wire_type type = schema_wire_type(values->field->type);

    if (values->packed.len > 0) {
        out->type = type;
        return wire_read_number(&values->packed, type, &out->scalar);
    }
    if (!wire_find_field(&values->rest, values->field->number, out))
        return false;
    if (out->type != WIRE_BYTES || type == WIRE_BYTES)
        return true;
    values->packed = out->bytes;
    return next_value(values, out);
}

/*
 * false: the messages have no such field, or it is not set. Of several values, which only repeated fields
 * should have, the first.
 */
static bool find_value(
    const struct tavola_record *record, const char *path, struct values *values, struct wire_field *out)
{
    *values = (struct values){ .field = NULL };
    values->field = find_field(record, path, &values->rest);
    return values->field && next_value(values, out);
}

/* ---- messages in messages ---- */

struct tavola_record tavola_record_part(const struct tavola_record *record, const char *path)
{
    struct wire_field found;
    struct values values;

    if (!find_value(record, path, &values, &found) || !values.field->message)
        return (struct tavola_record){ .type = NULL };
    return (struct tavola_record){ values.field->message, found.bytes.data, found.bytes.len };
}

bool tavola_record_next(
    const struct tavola_record *record, const char *path, size_t *position, struct tavola_record *out)
{
    struct wire_field found;
    struct str message, rest;
    const struct schema_field *field = find_field(record, path, &message);

    rest = str_from(message, *position);
    if (!field || !field->message || !wire_find_field(&rest, field->number, &found))
        return false;
    *position = message.len - rest.len;
    *out = (struct tavola_record){ field->message, found.bytes.data, found.bytes.len };
    return true;
}

size_t tavola_record_count(const struct tavola_record *record, const char *path)
{
    struct wire_field found;
    struct values values;
    size_t count = 0;

    if (!find_value(record, path, &values, &found))
        return 0;
    do
        count++;
    while (next_value(&values, &found));
    return count;
}

/* ---- numbers ---- */

static double double_of(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static double seconds_of(struct str message)
{
    struct wire_field field;
    double seconds = 0;

    while (wire_read_field(&message, &field) == WIRE_FIELD)
        seconds += field.number == 1 ? (double)(int64_t)field.scalar : (double)(int64_t)field.scalar / 1e9;
    return seconds;
}

static int64_t integer_of(const struct schema_field *field, uint64_t scalar)
{
    if (field->type == SCHEMA_INT32 || field->type == SCHEMA_ENUM || field->type == SCHEMA_SFIXED32)
        return (int32_t)scalar;
    if (field->type == SCHEMA_SINT32 || field->type == SCHEMA_SINT64)
        return wire_unzigzag(scalar);
    return (int64_t)scalar;
}

int64_t tavola_record_integer(const struct tavola_record *record, const char *path)
{
    struct wire_field found;
    struct values values;

    if (!find_value(record, path, &values, &found) || found.type == WIRE_BYTES)
        return 0;
    return integer_of(values.field, found.scalar);
}

double tavola_record_number(const struct tavola_record *record, const char *path, double fallback)
{
    struct wire_field found;
    struct values values;

    if (!find_value(record, path, &values, &found))
        return values.field && !values.field->message ? 0 : fallback;
    if (found.type == WIRE_BYTES)
        return values.field->message ? seconds_of(found.bytes) : fallback;
    if (values.field->type == SCHEMA_DOUBLE)
        return double_of(found.scalar);
    return (double)integer_of(values.field, found.scalar);
}

/* ---- text ---- */

/* The length of what the names of all values begin with, up to an underscore: "QUEUE_STATE_". */
static size_t prefix_length(const struct schema_enum *values)
{
    struct str first = values->values[0].name;
    size_t len = first.len;

    for (size_t i = 1; i < values->count; i++) {
        size_t same = 0;

        while (same < len && same < values->values[i].name.len &&
               first.data[same] == values->values[i].name.data[same])
            same++;
        len = same;
    }
    while (len > 0 && first.data[len - 1] != '_')
        len--;
    return values->count > 1 ? len : 0;
}

static void write_enum(const struct schema_enum *values, int32_t number, struct buf *out)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->values[i].number == number) {
            struct str name = str_from(values->values[i].name, prefix_length(values));

            if (!str_equal(name, STR_LITERAL("UNSPECIFIED")))
                buf_append(out, name);
            return;
        }
    buf_format(out, "%d", number);
}

static void write_message(const struct schema_field *field, struct str bytes, struct buf *out)
{
    size_t begin = out->len;

    if (json_write_message(schema_of_api(), field->message, bytes, 0, out, NULL) != STATUS_OK)
        out->len = begin;
    if (field->message->form != SCHEMA_TIMESTAMP && field->message->form != SCHEMA_DURATION)
        return;
    if (out->len >= begin + 2) { /* without its quotes */
        memmove(out->data + begin, out->data + begin + 1, out->len - begin - 2);
        out->len -= 2;
    }
}

static void write_value(const struct schema_field *field, const struct wire_field *value, struct buf *out)
{
    switch (field->type) {
    case SCHEMA_MESSAGE:
        write_message(field, value->bytes, out);
        break;
    case SCHEMA_STRING:
        buf_append(out, value->bytes);
        break;
    case SCHEMA_BYTES:
        json_forms_write_bytes(out, value->bytes);
        break;
    case SCHEMA_ENUM:
        write_enum(field->values, (int32_t)value->scalar, out);
        break;
    case SCHEMA_BOOL:
        buf_format(out, "%s", value->scalar ? "true" : "false");
        break;
    case SCHEMA_DOUBLE:
        json_forms_write_double(out, double_of(value->scalar));
        break;
    default:
        buf_format(out, "%lld", (long long)integer_of(field, value->scalar));
    }
}

/* A field that is not set has its default value, unless it can be absent. */
static void write_absent(const struct schema_field *field, struct buf *out)
{
    static const struct wire_field zero;

    if (!field->is_repeated && !field->is_optional && field->oneof < 0 && field->type != SCHEMA_MESSAGE)
        write_value(field, &zero, out);
}

static char *take_text(struct buf *out)
{
    buf_append_byte(out, '\0');
    return out->data;
}

char *tavola_record_text(const struct tavola_record *record, const char *path)
{
    struct wire_field found;
    struct values values;
    struct buf out;

    buf_init(&out, NULL);
    if (!find_value(record, path, &values, &found)) {
        if (values.field)
            write_absent(values.field, &out);
        return take_text(&out);
    }
    write_value(values.field, &found, &out);
    while (values.field->is_repeated && next_value(&values, &found)) {
        buf_append_byte(&out, '\n');
        write_value(values.field, &found, &out);
    }
    return take_text(&out);
}

char *tavola_record_json(const struct tavola_record *record)
{
    struct str bytes = str_of_bytes(record->data, record->size);
    struct buf out;

    buf_init(&out, NULL);
    if (!record->type ||
        json_write_message(schema_of_api(), record->type, bytes, 0, &out, NULL) != STATUS_OK) {
        out.len = 0;
        buf_append(&out, STR_LITERAL("{}"));
    }
    return take_text(&out);
}

bool tavola_record_has(const struct tavola_record *record, const char *path)
{
    struct str message;

    return find_field(record, path, &message) != NULL;
}
