/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64url.c - see the header.
 */
#include "base/base64url.h"

#include "base/buf.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct str base64url_encode(struct str bytes, struct arena *arena)
{
    uint32_t bits = 0;
    int held = 0;
    struct buf out;

    buf_init(&out, arena);
    buf_reserve(&out, bytes.len / 3 * 4 + 4);
    for (size_t i = 0; i < bytes.len; i++) {
        bits = bits << 8 | (uint8_t)bytes.data[i];
        for (held += 8; held >= 6; held -= 6)
            buf_append_byte(&out, (uint8_t)alphabet[bits >> (held - 6) & 63]);
    }
    if (held > 0)
        buf_append_byte(&out, (uint8_t)alphabet[bits << (6 - held) & 63]);
    return buf_str(&out);
}

static bool value_of(char c, uint32_t *out)
{
    if (c >= 'A' && c <= 'Z')
        *out = (uint32_t)(c - 'A');
    else if (c >= 'a' && c <= 'z')
        *out = (uint32_t)(c - 'a') + 26;
    else if (c >= '0' && c <= '9')
        *out = (uint32_t)(c - '0') + 52;
    else if (c == '-' || c == '_')
        *out = c == '-' ? 62 : 63;
    else
        return false;
    return true;
}

bool base64url_decode(struct str text, struct arena *arena, struct str *out)
{
    uint32_t bits = 0, value;
    int held = 0;
    struct buf bytes;

    buf_init(&bytes, arena);
    buf_reserve(&bytes, text.len / 4 * 3 + 3);
    for (size_t i = 0; i < text.len; i++) {
        if (!value_of(text.data[i], &value))
            return false;
        bits = bits << 6 | value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            buf_append_byte(&bytes, (uint8_t)(bits >> held));
        }
    }
    *out = buf_str(&bytes);
    return held < 6 && (bits & ((1u << held) - 1)) == 0;
}
