/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - UTF-8 as the Unicode standard defines it (table 3-7, well-formed byte sequences).
 *
 * Most text is ASCII, so eight bytes are tested at a time until one of them is not.
 */
#include "domain/text.h"

#include <assert.h>
#include <string.h>

/* The length of the well-formed sequence at the front of text, 0 when there is none. */
static size_t sequence_bytes(const unsigned char *text, size_t len)
{
    unsigned char lead = text[0], low = 0x80, high = 0xBF;
    size_t bytes;

    if (lead < 0x80)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (len < bytes)
        return 0;
    if (lead == 0xE0)
        low = 0xA0; /* below: overlong */
    else if (lead == 0xED)
        high = 0x9F; /* above: surrogates */
    else if (lead == 0xF0)
        low = 0x90; /* below: overlong */
    else if (lead == 0xF4)
        high = 0x8F; /* above: past U+10FFFF */
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < bytes; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return bytes;
}

/* How many bytes at the front are ASCII: all of them, or in whole words. */
static size_t ascii_bytes(const unsigned char *text, size_t len)
{
    unsigned char high = 0;
    size_t at = 0;

    while (len - at >= sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, text + at, sizeof(word));
        if (word & UINT64_C(0x8080808080808080))
            return at;
        at += sizeof(word);
    }
    for (size_t i = at; i < len; i++)
        high |= text[i];
    return high < 0x80 ? len : at;
}

bool text_check(struct str text, size_t *units, size_t *bad_offset)
{
    const unsigned char *data = (const unsigned char *)text.data;
    size_t at = 0, count = 0;

    while (at < text.len) {
        size_t bytes = ascii_bytes(data + at, text.len - at);

        at += bytes;
        count += bytes;
        if (at == text.len)
            break;
        bytes = sequence_bytes(data + at, text.len - at);
        if (bytes == 0) {
            if (bad_offset)
                *bad_offset = at;
            return false;
        }
        at += bytes;
        count += bytes == 4 ? 2 : 1;
    }
    if (units)
        *units = count;
    return true;
}

void text_append(struct buf *out, uint32_t c)
{
    if (c < 0x80) {
        buf_append_byte(out, (uint8_t)c);
        return;
    }
    if (c < 0x800) {
        buf_append_byte(out, (uint8_t)(0xC0 | c >> 6));
    } else {
        if (c < 0x10000) {
            buf_append_byte(out, (uint8_t)(0xE0 | c >> 12));
        } else {
            buf_append_byte(out, (uint8_t)(0xF0 | c >> 18));
            buf_append_byte(out, (uint8_t)(0x80 | (c >> 12 & 0x3F)));
        }
        buf_append_byte(out, (uint8_t)(0x80 | (c >> 6 & 0x3F)));
    }
    buf_append_byte(out, (uint8_t)(0x80 | (c & 0x3F)));
}

uint32_t text_take(struct str *text)
{
    const unsigned char *data = (const unsigned char *)text->data;
    size_t bytes;
    uint32_t character;

    assert(text->len > 0);
    bytes = sequence_bytes(data, text->len);
    assert(bytes > 0);
    character = bytes == 1 ? data[0] : data[0] & (0x7FU >> bytes);
    for (size_t i = 1; i < bytes; i++)
        character = character << 6 | (data[i] & 0x3FU);
    *text = str_of_bytes(text->data + bytes, text->len - bytes);
    return character;
}
