/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property_value.c - one Value message: as callers send it and as it is stored.
 */
#include "domain/properties/property_value.h"

#include <math.h>
#include <string.h>

#include "base/digits.h"
#include "domain/properties/property_name.h"
#include "domain/reason.h"
#include "domain/text.h"
#include "domain/ticks.h"

enum { GUID_BYTES = 36, DOUBLE_BYTES = 8, TIMESTAMP_SECONDS = 1, TIMESTAMP_NANOS = 2 };

/* One-byte tags of canonical messages. */
enum {
    TAG_STRING = PROPERTY_STRING << 3 | WIRE_BYTES,
    TAG_BOOLEAN = PROPERTY_BOOLEAN << 3 | WIRE_VARINT,
    TAG_INT32 = PROPERTY_INT32 << 3 | WIRE_VARINT,
    TAG_INT64 = PROPERTY_INT64 << 3 | WIRE_VARINT,
    TAG_DOUBLE = PROPERTY_DOUBLE << 3 | WIRE_FIXED64,
    TAG_DATETIME = PROPERTY_DATETIME << 3 | WIRE_BYTES,
    TAG_GUID = PROPERTY_GUID << 3 | WIRE_BYTES,
    TAG_BINARY = PROPERTY_BINARY << 3 | WIRE_BYTES,
    TAG_SECONDS = TIMESTAMP_SECONDS << 3 | WIRE_VARINT,
    TAG_NANOS = TIMESTAMP_NANOS << 3 | WIRE_VARINT,
};

static const char *const type_names[] = {
    [PROPERTY_NULL] = "null",
    [PROPERTY_STRING] = "Edm.String",
    [PROPERTY_BOOLEAN] = "Edm.Boolean",
    [PROPERTY_INT32] = "Edm.Int32",
    [PROPERTY_INT64] = "Edm.Int64",
    [PROPERTY_DOUBLE] = "Edm.Double",
    [PROPERTY_DATETIME] = "Edm.DateTime",
    [PROPERTY_GUID] = "Edm.Guid",
    [PROPERTY_BINARY] = "Edm.Binary",
};

const char *property_type_name(enum property_type type)
{
    return (unsigned)type < ARRAY_LEN(type_names) ? type_names[type] : "unknown";
}

const char *property_type_short_name(enum property_type type)
{
    static const struct str prefix = { .data = "Edm.", .len = 4 };
    const char *name = property_type_name(type);

    return str_starts_with(str_of(name), prefix) ? name + prefix.len : name;
}

/* ---- what a caller sent ---- */

static double double_of_bits(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static uint64_t bits_of_double(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

/* Messages merge field by field, so a second Timestamp overwrites only what it sets. */
static bool merge_timestamp(struct value_draft *draft, struct str message)
{
    struct wire_field field;
    enum wire_result result;

    if (draft->value.type != PROPERTY_DATETIME)
        draft->seconds = draft->nanos = 0;
    while ((result = wire_read_field(&message, &field)) == WIRE_FIELD) {
        if (field.type != WIRE_VARINT)
            continue;
        if (field.number == TIMESTAMP_SECONDS)
            draft->seconds = (int64_t)field.scalar;
        else if (field.number == TIMESTAMP_NANOS)
            draft->nanos = (int64_t)field.scalar;
    }
    draft->value = (struct value){ .type = PROPERTY_DATETIME };
    return result == WIRE_END;
}

/* A known field number with another wire type is an unknown field, as in every protobuf parser. */
static bool merge_field(struct value_draft *draft, const struct wire_field *field)
{
    struct value value = { .type = (enum property_type)field->number };

    switch (field->number << 3 | field->type) {
    case TAG_STRING:
    case TAG_GUID:
    case TAG_BINARY:
        value.bytes = field->bytes;
        break;
    case TAG_BOOLEAN:
        value.integer = field->scalar != 0;
        break;
    case TAG_INT32:
        draft->int32 = field->scalar;
        break;
    case TAG_INT64:
        value.integer = wire_unzigzag(field->scalar);
        break;
    case TAG_DOUBLE:
        value.number = double_of_bits(field->scalar);
        break;
    case TAG_DATETIME:
        return merge_timestamp(draft, field->bytes);
    default:
        return true;
    }
    draft->value = value;
    return true;
}

bool property_value_merge(struct value_draft *draft, struct str message)
{
    struct wire_field field;
    enum wire_result result;

    while ((result = wire_read_field(&message, &field)) == WIRE_FIELD)
        if (!merge_field(draft, &field))
            return false;
    return result == WIRE_END;
}

static enum status refuse_value(enum reason reason, struct str name, const char *what, struct error *err)
{
    char subject[PROPERTY_SUBJECT_BYTES];
    enum status status = reason_set(err, reason, "%s: %s", property_name_subject(name, subject), what);

    property_name_blame(err, name);
    return status;
}

static enum status finish_string(struct value_draft *draft, struct str name, struct error *err)
{
    size_t bad;

    if (text_check(draft->value.bytes, &draft->units, &bad))
        return STATUS_OK;
    refuse_value(REASON_INVALID_INPUT, name, "the string is not UTF-8", err);
    error_add_meta_int(err, "position", (int64_t)bad);
    return STATUS_INVALID;
}

static bool is_guid(struct str text, bool *has_upper)
{
    *has_upper = false;
    if (text.len != GUID_BYTES)
        return false;
    for (size_t i = 0; i < GUID_BYTES; i++) {
        char c = text.data[i];

        if (i == 8 || i == 13 || i == 18 || i == 23 ? c != '-' : digits_hex_value(c) < 0)
            return false;
        *has_upper |= c >= 'A' && c <= 'F';
    }
    return true;
}

static enum status finish_guid(
    struct value_draft *draft, struct str name, struct arena *arena, struct error *err)
{
    bool has_upper;
    char *lowered;

    if (!is_guid(draft->value.bytes, &has_upper))
        return refuse_value(REASON_INVALID_INPUT, name,
            "a Guid is written as 8-4-4-4-12 hexadecimal digits, with nothing around them", err);
    if (!has_upper)
        return STATUS_OK;
    lowered = arena_alloc(arena, GUID_BYTES);
    for (size_t i = 0; i < GUID_BYTES; i++) {
        char c = draft->value.bytes.data[i];

        lowered[i] = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
    }
    draft->value.bytes = str_of_bytes(lowered, GUID_BYTES);
    return STATUS_OK;
}

static enum status finish_datetime(struct value_draft *draft, struct str name, struct error *err)
{
    if (draft->nanos >= 0 && draft->nanos <= INT32_MAX &&
        ticks_from_timestamp(draft->seconds, (int32_t)draft->nanos, &draft->value.integer))
        return STATUS_OK;
    refuse_value(REASON_OUT_OF_RANGE_INPUT, name,
        "a DateTime lies between 1601-01-01T00:00:00Z and 9999-12-31T23:59:59.9999999Z, and its nanos "
        "between 0 and 999,999,999",
        err);
    error_add_meta(err, "allowed", STR_LITERAL("1601-01-01T00:00:00Z..9999-12-31T23:59:59.9999999Z"));
    return STATUS_OUT_OF_RANGE;
}

enum status property_value_finish(
    struct value_draft *draft, struct str name, struct arena *arena, struct error *err)
{
    switch (draft->value.type) {
    case PROPERTY_STRING:
        return finish_string(draft, name, err);
    case PROPERTY_INT32:
        if (draft->int32 > UINT32_MAX)
            return refuse_value(REASON_INVALID_INPUT, name, "the Int32 does not fit 32 bits", err);
        draft->value.integer = wire_unzigzag(draft->int32);
        return STATUS_OK;
    case PROPERTY_DATETIME:
        return finish_datetime(draft, name, err);
    case PROPERTY_GUID:
        return finish_guid(draft, name, arena, err);
    case PROPERTY_DOUBLE:
        if (isnan(draft->value.number))
            draft->value.number = double_of_bits(UINT64_C(0x7FF8000000000000));
        return STATUS_OK;
    case PROPERTY_NULL:
    case PROPERTY_BOOLEAN:
    case PROPERTY_INT64:
    case PROPERTY_BINARY:
        return STATUS_OK;
    }
    return STATUS_OK;
}

enum status value_parse(struct str message, struct value *out, struct arena *arena, struct error *err)
{
    struct value_draft draft = { .value = { .type = PROPERTY_NULL } };

    if (!property_value_merge(&draft, message))
        return reason_set(err, REASON_INVALID_INPUT, "the value is malformed");
    TRY(property_value_finish(&draft, STR_EMPTY, arena, err));
    *out = draft.value;
    return STATUS_OK;
}

/* ---- what is stored ---- */

/* Read a varint with this tag from the front; 0 if it is absent. */
static bool take_optional_varint(struct str *input, char tag, uint64_t *out)
{
    *out = 0;
    if (input->len == 0 || input->data[0] != tag)
        return true;
    *input = str_from(*input, 1);
    return wire_read_varint(input, out);
}

static bool read_datetime(struct str message, int64_t *out)
{
    uint64_t seconds, nanos;

    return take_optional_varint(&message, TAG_SECONDS, &seconds) &&
           take_optional_varint(&message, TAG_NANOS, &nanos) && message.len == 0 && nanos <= INT32_MAX &&
           ticks_from_timestamp((int64_t)seconds, (int32_t)nanos, out);
}

static bool read_double(struct str bytes, double *out)
{
    uint64_t bits = 0;

    if (bytes.len != DOUBLE_BYTES)
        return false;
    for (int i = 0; i < DOUBLE_BYTES; i++)
        bits |= (uint64_t)(unsigned char)bytes.data[i] << (8 * i);
    *out = double_of_bits(bits);
    return true;
}

static bool read_integer(struct str rest, enum property_type type, int64_t *out)
{
    uint64_t scalar;

    if (!wire_read_varint(&rest, &scalar) || rest.len > 0)
        return false;
    *out = type == PROPERTY_BOOLEAN ? scalar != 0 : wire_unzigzag(scalar);
    return true;
}

bool property_value_read_canonical(struct str message, struct value *out)
{
    struct str rest = str_from(message, 1), bytes;
    struct value value = { .bytes = STR_EMPTY };
    bool good = false;

    if (message.len == 0)
        return false;
    value.type = (enum property_type)((unsigned char)message.data[0] >> 3);
    switch (message.data[0]) {
    case TAG_STRING:
    case TAG_GUID:
    case TAG_BINARY:
        good = property_value_take_field(&message, message.data[0], &value.bytes) && message.len == 0;
        break;
    case TAG_BOOLEAN:
    case TAG_INT32:
    case TAG_INT64:
        good = read_integer(rest, value.type, &value.integer);
        break;
    case TAG_DOUBLE:
        good = read_double(rest, &value.number);
        break;
    case TAG_DATETIME:
        good = property_value_take_field(&message, TAG_DATETIME, &bytes) && message.len == 0 &&
               read_datetime(bytes, &value.integer);
        break;
    default:
        break;
    }
    if (good)
        *out = value;
    return good;
}

static size_t timestamp_bytes(int64_t ticks)
{
    int64_t seconds;
    int32_t nanos;

    ticks_to_timestamp(ticks, &seconds, &nanos);
    return (seconds != 0 ? 1 + wire_varint_bytes((uint64_t)seconds) : 0) +
           (nanos != 0 ? 1 + wire_varint_bytes((uint64_t)nanos) : 0);
}

static size_t value_bytes(const struct value *value)
{
    size_t len;

    switch (value->type) {
    case PROPERTY_NULL:
        return 0;
    case PROPERTY_STRING:
    case PROPERTY_GUID:
    case PROPERTY_BINARY:
        return 1 + wire_varint_bytes(value->bytes.len) + value->bytes.len;
    case PROPERTY_BOOLEAN:
        return 2;
    case PROPERTY_INT32:
    case PROPERTY_INT64:
        return 1 + wire_varint_bytes(wire_zigzag(value->integer));
    case PROPERTY_DOUBLE:
        return 1 + DOUBLE_BYTES;
    case PROPERTY_DATETIME:
        len = timestamp_bytes(value->integer);
        return 1 + wire_varint_bytes(len) + len;
    }
    return 0;
}

static char *put_bytes(char *out, char tag, struct str bytes)
{
    *out++ = tag;
    out = wire_put_varint(out, bytes.len);
    if (bytes.len > 0)
        memcpy(out, bytes.data, bytes.len);
    return out + bytes.len;
}

static char *put_scalar(char *out, char tag, uint64_t scalar)
{
    *out++ = tag;
    return wire_put_varint(out, scalar);
}

static char *put_datetime(char *out, int64_t ticks)
{
    int64_t seconds;
    int32_t nanos;

    ticks_to_timestamp(ticks, &seconds, &nanos);
    out = put_scalar(out, TAG_DATETIME, timestamp_bytes(ticks));
    if (seconds != 0)
        out = put_scalar(out, TAG_SECONDS, (uint64_t)seconds);
    if (nanos != 0)
        out = put_scalar(out, TAG_NANOS, (uint64_t)nanos);
    return out;
}

static char *put_double(char *out, double number)
{
    uint64_t bits = bits_of_double(number);

    *out++ = TAG_DOUBLE;
    for (int i = 0; i < DOUBLE_BYTES; i++)
        *out++ = (char)(unsigned char)(bits >> (8 * i));
    return out;
}

/*
 * A kind that is set is written even if its value is zero, because a value without a kind is null.
 */
static char *value_put(char *out, const struct value *value)
{
    switch (value->type) {
    case PROPERTY_NULL:
        return out;
    case PROPERTY_STRING:
        return put_bytes(out, TAG_STRING, value->bytes);
    case PROPERTY_BOOLEAN:
        return put_scalar(out, TAG_BOOLEAN, value->integer != 0);
    case PROPERTY_INT32:
        return put_scalar(out, TAG_INT32, wire_zigzag(value->integer));
    case PROPERTY_INT64:
        return put_scalar(out, TAG_INT64, wire_zigzag(value->integer));
    case PROPERTY_DOUBLE:
        return put_double(out, value->number);
    case PROPERTY_DATETIME:
        return put_datetime(out, value->integer);
    case PROPERTY_GUID:
        return put_bytes(out, TAG_GUID, value->bytes);
    case PROPERTY_BINARY:
        return put_bytes(out, TAG_BINARY, value->bytes);
    }
    return out;
}

static size_t content_bytes(struct str name, size_t value_len)
{
    return 1 + wire_varint_bytes(name.len) + name.len + 1 + wire_varint_bytes(value_len) + value_len;
}

size_t property_value_record_bytes(struct str name, const struct value *value)
{
    size_t content = content_bytes(name, value_bytes(value));

    return 1 + wire_varint_bytes(content) + content;
}

char *property_value_record_put(char *out, struct str name, const struct value *value)
{
    size_t value_len = value_bytes(value);

    out = put_scalar(out, RECORD_TAG, content_bytes(name, value_len));
    out = put_bytes(out, NAME_TAG, name);
    out = put_scalar(out, VALUE_TAG, value_len);
    return value_put(out, value);
}
