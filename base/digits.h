/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.h - numbers and bytes written in decimal or hexadecimal digits.
 *
 * Only ASCII digits are read, in no locale; no reader skips spaces or accepts a '+'. Every reader
 * leaves its outputs untouched when it returns false.
 */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/str.h"

#define DIGITS_HEX "0123456789abcdef"

static inline bool digits_is_decimal(char c)
{
    return c >= '0' && c <= '9';
}

/* 0 to 15 for a digit in either case; -1: c is not a hexadecimal digit. */
static inline int digits_hex_value(char c)
{
    if (digits_is_decimal(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ---- decimal ---- */

/*
 * Read the whole text as a number. Leading zeros are allowed.
 *
 * false: the text is empty, has a character that is not a digit, or stands for a number above max
 */
MUST_USE bool digits_parse_unsigned(struct str text, uint64_t max, uint64_t *out);

/* As digits_parse_unsigned, from min to max; one '-' may precede the digits. */
MUST_USE bool digits_parse_signed(struct str text, int64_t min, int64_t max, int64_t *out);

/*
 * Read the digits at the beginning of the text, and move the text behind them. false: the text does
 * not begin with a digit, or the number is above max.
 */
MUST_USE bool digits_take_unsigned(struct str *text, uint64_t max, uint64_t *out);

/* ---- hexadecimal ---- */

/*
 * Write the number's lowest `count` digits in lower case, without a NUL; returns the end of what
 * was written.
 */
static inline char *digits_write_hex(char *out, uint64_t number, int count)
{
    for (int i = count - 1; i >= 0; i--)
        *out++ = DIGITS_HEX[number >> (4 * i) & 0xF];
    return out;
}

/*
 * Read up to max_digits (at most 16) digits of either case at the beginning of the text, and move
 * the text behind them. false: the text does not begin with a hexadecimal digit.
 */
MUST_USE bool digits_take_hex(struct str *text, size_t max_digits, uint64_t *out);

/* Whether the text has nothing but 0-9 and a-f; true for an empty text. */
bool digits_are_lower_hex(struct str text);

/* Write two lower-case digits for each byte, without a NUL. out: 2 * bytes.len characters. */
void digits_encode_hex(struct str bytes, char *out);

/*
 * Read two digits of either case for each byte. out: text.len / 2 bytes.
 *
 * false: the length is odd, or a character is not a hexadecimal digit; out may have been written to
 */
MUST_USE bool digits_decode_hex(struct str text, char *out);

#endif
