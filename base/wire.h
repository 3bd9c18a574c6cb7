/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the protobuf wire format: a bounds-checked reader of fields and a writer of canonical
 * ones.
 *
 * It knows no message types. The property list, spliced replies and reflection descriptors are read
 * and written with it; other messages go through the generated code in api/.
 */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5,
};

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t scalar;  /* VARINT, FIXED64, FIXED32 */
    struct str bytes; /* BYTES: borrowed from the input */
};

enum wire_result {
    WIRE_FIELD, /* out holds a field, input has moved behind it */
    WIRE_END,   /* the input was empty */
    WIRE_MALFORMED,
};

/*
 * Read one field. Groups (types 3 and 4), field number 0 and varints over ten bytes are malformed.
 */
enum wire_result wire_read_field(struct str *input, struct wire_field *out);

/*
 * Read on to the next field of this number; false: there is none before the end, or before
 * malformed bytes.
 */
bool wire_find_field(struct str *input, uint32_t number, struct wire_field *out);

/* The bytes of the first such field of type BYTES; empty when there is none. */
struct str wire_find_bytes(struct str message, uint32_t number);

/* Read one varint; false when it is malformed. */
bool wire_read_varint(struct str *input, uint64_t *out);

/*
 * Read a number without its tag, as in a packed field: VARINT, FIXED64 or FIXED32. false:
 * malformed.
 */
bool wire_read_number(struct str *input, enum wire_type type, uint64_t *out);
void wire_write_number(struct buf *out, enum wire_type type, uint64_t value);

size_t wire_varint_bytes(uint64_t value);
/* returns the position behind it; at most 10 bytes */
char *wire_put_varint(char *out, uint64_t value);

void wire_write_varint(struct buf *out, uint64_t value);
void wire_write_tag(struct buf *out, uint32_t number, enum wire_type type);
void wire_write_scalar(struct buf *out, uint32_t number, uint64_t value); /* tag and varint */
void wire_write_bytes(struct buf *out, uint32_t number, struct str bytes);

static inline uint64_t wire_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t wire_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
