/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.c - written by hand rather than with strtoll and snprintf: views have no NUL, callers'
 * texts are no C strings, and every entity of a page has an ETag in hexadecimal.
 */
#include "base/digits.h"

/* ---- decimal ---- */

/*
 * Returns how many digits the text begins with, and their number; 0: none, or the number is above
 * max.
 */
static inline size_t read_decimal(struct str text, uint64_t max, uint64_t *out)
{
    uint64_t number = 0;
    size_t count = 0;

    for (; count < text.len && digits_is_decimal(text.data[count]); count++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text.data[count] - '0'), &number))
            return 0;
    }
    *out = number;
    return number <= max ? count : 0;
}

bool digits_parse_unsigned(struct str text, uint64_t max, uint64_t *out)
{
    uint64_t number;

    if (text.len == 0 || read_decimal(text, max, &number) != text.len)
        return false;
    *out = number;
    return true;
}

bool digits_parse_signed(struct str text, int64_t min, int64_t max, int64_t *out)
{
    bool negative = text.len > 0 && text.data[0] == '-';
    struct str digits = negative ? str_from(text, 1) : text;
    uint64_t magnitude;
    int64_t number;

    if (digits.len == 0 || read_decimal(digits, (uint64_t)INT64_MAX + negative, &magnitude) != digits.len)
        return false;
    number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    if (number < min || number > max)
        return false;
    *out = number;
    return true;
}

bool digits_take_unsigned(struct str *text, uint64_t max, uint64_t *out)
{
    uint64_t number;
    size_t count = read_decimal(*text, max, &number);

    if (count == 0)
        return false;
    *text = str_from(*text, count);
    *out = number;
    return true;
}

/* ---- hexadecimal ---- */

bool digits_take_hex(struct str *text, size_t max_digits, uint64_t *out)
{
    uint64_t number = 0;
    size_t count = 0;

    for (; count < text->len && count < max_digits; count++) {
        int digit = digits_hex_value(text->data[count]);

        if (digit < 0)
            break;
        number = number << 4 | (uint64_t)digit;
    }
    if (count == 0)
        return false;
    *text = str_from(*text, count);
    *out = number;
    return true;
}

bool digits_are_lower_hex(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!digits_is_decimal(text.data[i]) && !(text.data[i] >= 'a' && text.data[i] <= 'f'))
            return false;
    return true;
}

void digits_encode_hex(struct str bytes, char *out)
{
    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];

        out[2 * i] = DIGITS_HEX[byte >> 4];
        out[2 * i + 1] = DIGITS_HEX[byte & 15];
    }
}

bool digits_decode_hex(struct str text, char *out)
{
    if (text.len % 2 != 0)
        return false;
    for (size_t i = 0; i < text.len; i += 2) {
        int high = digits_hex_value(text.data[i]), low = digits_hex_value(text.data[i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i / 2] = (char)(high << 4 | low);
    }
    return true;
}
