/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_uri.c - see the header.
 */
#include "odata/odata_uri.h"

#include "base/digits.h"
#include "domain/text.h"

/* Decode one byte. Returns the number of characters that it takes; 0: malformed. */
static size_t decode_byte(struct str text, size_t at, enum odata_uri_part part, char *out)
{
    if (text.data[at] == '%')
        return at + 2 < text.len && digits_decode_hex(str_of_bytes(text.data + at + 1, 2), out) ? 3 : 0;
    *out = part == ODATA_URI_QUERY && text.data[at] == '+' ? ' ' : text.data[at];
    return 1;
}

static bool is_encoded(struct str text, enum odata_uri_part part)
{
    return text.len > 0 && (memchr(text.data, '%', text.len) ||
                               (part == ODATA_URI_QUERY && memchr(text.data, '+', text.len)));
}

bool odata_uri_decode(struct str text, enum odata_uri_part part, struct arena *arena, struct str *out)
{
    struct str decoded = text;

    if (is_encoded(text, part)) {
        char *bytes = arena_alloc(arena, text.len);
        size_t len = 0;

        for (size_t at = 0; at < text.len;) {
            size_t taken = decode_byte(text, at, part, &bytes[len++]);

            if (taken == 0)
                return false;
            at += taken;
        }
        decoded = str_of_bytes(bytes, len);
    }
    if (!text_check(decoded, NULL, NULL))
        return false;
    *out = decoded;
    return true;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digits_is_decimal(c) || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

static void encode_byte(char c, struct buf *out)
{
    static const char digits[] = "0123456789ABCDEF";

    buf_append_byte(out, '%');
    buf_append_byte(out, (uint8_t)digits[(uint8_t)c >> 4]);
    buf_append_byte(out, (uint8_t)digits[(uint8_t)c & 15]);
}

void odata_uri_encode(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++)
        if (is_plain(text.data[i]))
            buf_append_byte(out, (uint8_t)text.data[i]);
        else
            encode_byte(text.data[i], out);
}

void odata_uri_encode_key(struct str key, struct buf *out)
{
    for (size_t i = 0; i < key.len; i++)
        if (key.data[i] == '\'')
            buf_append(out, STR_LITERAL("''"));
        else
            odata_uri_encode(str_of_bytes(&key.data[i], 1), out);
}

bool odata_uri_take_parameter(struct str *query, struct str *name, struct str *value)
{
    while (query->len > 0) {
        struct str parameter = str_take(query, '&');

        if (parameter.len == 0)
            continue;
        *value = parameter;
        *name = str_take(value, '=');
        return true;
    }
    return false;
}
