/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property_value.h - what the modules of the property list share: reading and writing values and
 * records. Others use property.h.
 */
#ifndef DOMAIN_PROPERTIES_PROPERTY_VALUE_H
#define DOMAIN_PROPERTIES_PROPERTY_VALUE_H

#include "base/wire.h"
#include "domain/properties/property.h"

/*
 * A value that is being read from what a caller sent. The message may come in several pieces, and
 * within a piece the last kind set wins, so nothing is judged before the end. Begins zeroed.
 */
struct value_draft {
    struct value value;
    size_t units;    /* UTF-16 code units of a STRING, after property_value_finish */
    uint64_t int32;  /* INT32 as it came: zigzag, possibly wider than 32 bits */
    int64_t seconds; /* DATETIME as it came */
    int64_t nanos;
};

/* Merge one Value message into the draft; false: malformed. */
bool property_value_merge(struct value_draft *draft, struct str message);

/*
 * Check the draft and make the canonical value. name: for messages, empty if there is none.
 *
 * STATUS_OK, STATUS_INVALID (INVALID_INPUT), STATUS_OUT_OF_RANGE (OUT_OF_RANGE_INPUT)
 */
MUST_USE enum status property_value_finish(
    struct value_draft *draft, struct str name, struct arena *arena, struct error *err);

/* Read a canonical Value message; false: the bytes are not one. */
bool property_value_read_canonical(struct str message, struct value *out);

/*
 * Read a field of bytes with this one-byte tag from the front; false: the next field is another
 * one. Inline, because every read calls it four times for each property.
 */
static inline bool property_value_take_field(struct str *input, char tag, struct str *out)
{
    const char *data = input->data;
    size_t left = input->len;
    uint64_t len;

    if (left < 2 || data[0] != tag)
        return false;
    len = (unsigned char)data[1];
    data += 2;
    left -= 2;
    if (len >= 0x80) { /* rarely: the length has more than one byte */
        struct str rest = str_of_bytes(data - 1, left + 1);

        if (!wire_read_varint(&rest, &len))
            return false;
        data = rest.data;
        left = rest.len;
    }
    if (len > left)
        return false;
    *out = str_of_bytes(data, (size_t)len);
    *input = str_of_bytes(data + len, left - (size_t)len);
    return true;
}

/* The bytes of a whole record, and where it ends after it was written. */
size_t property_value_record_bytes(struct str name, const struct value *value);
char *property_value_record_put(char *out, struct str name, const struct value *value);

enum { RECORD_TAG = 15 << 3 | 2, NAME_TAG = 1 << 3 | 2, VALUE_TAG = 2 << 3 | 2 };

#endif
