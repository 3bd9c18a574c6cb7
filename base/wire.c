/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - see the header.
 */
#include "base/wire.h"

static bool read_long_varint(struct str *input, uint64_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < input->len && i < 10; i++) {
        uint8_t byte = (uint8_t)input->data[i];

        if (i == 9 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            *out = value;
            *input = str_of_bytes(input->data + i + 1, input->len - i - 1);
            return true;
        }
    }
    return false;
}

/* Nearly all tags, lengths and small numbers are one byte. */
static inline bool read_varint(struct str *input, uint64_t *out)
{
    if (input->len == 0 || (uint8_t)input->data[0] >= 0x80)
        return read_long_varint(input, out);
    *out = (uint8_t)input->data[0];
    *input = str_of_bytes(input->data + 1, input->len - 1);
    return true;
}

bool wire_read_varint(struct str *input, uint64_t *out)
{
    return read_varint(input, out);
}

static bool read_little_endian(struct str *input, size_t bytes, uint64_t *out)
{
    uint64_t value = 0;

    if (input->len < bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)(uint8_t)input->data[i] << (8 * i);
    *out = value;
    *input = str_of_bytes(input->data + bytes, input->len - bytes);
    return true;
}

bool wire_read_number(struct str *input, enum wire_type type, uint64_t *out)
{
    if (type == WIRE_VARINT)
        return read_varint(input, out);
    return type != WIRE_BYTES && read_little_endian(input, type == WIRE_FIXED64 ? 8 : 4, out);
}

static bool read_value(struct str *rest, struct wire_field *field)
{
    uint64_t len;

    switch (field->type) {
    case WIRE_VARINT:
        return read_varint(rest, &field->scalar);
    case WIRE_FIXED64:
        return read_little_endian(rest, 8, &field->scalar);
    case WIRE_FIXED32:
        return read_little_endian(rest, 4, &field->scalar);
    case WIRE_BYTES:
        if (!read_varint(rest, &len) || len > rest->len)
            return false;
        field->bytes = str_of_bytes(rest->data, (size_t)len);
        *rest = str_of_bytes(rest->data + len, rest->len - (size_t)len);
        return true;
    }
    return false;
}

enum wire_result wire_read_field(struct str *input, struct wire_field *out)
{
    struct str rest = *input;
    uint64_t tag;

    if (rest.len == 0)
        return WIRE_END;
    if (!read_varint(&rest, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
        return WIRE_MALFORMED;
    out->number = (uint32_t)(tag >> 3);
    out->type = (enum wire_type)(tag & 7);
    out->scalar = 0;
    out->bytes = STR_EMPTY;
    if (!read_value(&rest, out))
        return WIRE_MALFORMED;
    *input = rest;
    return WIRE_FIELD;
}

bool wire_find_field(struct str *input, uint32_t number, struct wire_field *out)
{
    while (wire_read_field(input, out) == WIRE_FIELD)
        if (out->number == number)
            return true;
    return false;
}

struct str wire_find_bytes(struct str message, uint32_t number)
{
    struct wire_field field;

    while (wire_find_field(&message, number, &field))
        if (field.type == WIRE_BYTES)
            return field.bytes;
    return STR_EMPTY;
}

size_t wire_varint_bytes(uint64_t value)
{
    size_t bytes = 1;

    while (value >= 0x80) {
        value >>= 7;
        bytes++;
    }
    return bytes;
}

char *wire_put_varint(char *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (char)(uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (char)(uint8_t)value;
    return out;
}

void wire_write_varint(struct buf *out, uint64_t value)
{
    char *begin = buf_reserve(out, 10);

    out->len += (size_t)(wire_put_varint(begin, value) - begin);
}

void wire_write_number(struct buf *out, enum wire_type type, uint64_t value)
{
    size_t bytes = type == WIRE_FIXED64 ? 8 : 4;

    if (type == WIRE_VARINT) {
        wire_write_varint(out, value);
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        buf_append_byte(out, (uint8_t)(value >> (8 * i)));
}

void wire_write_tag(struct buf *out, uint32_t number, enum wire_type type)
{
    wire_write_varint(out, (uint64_t)number << 3 | (uint64_t)type);
}

void wire_write_scalar(struct buf *out, uint32_t number, uint64_t value)
{
    wire_write_tag(out, number, WIRE_VARINT);
    wire_write_varint(out, value);
}

void wire_write_bytes(struct buf *out, uint32_t number, struct str bytes)
{
    wire_write_tag(out, number, WIRE_BYTES);
    wire_write_varint(out, bytes.len);
    buf_append(out, bytes);
}
