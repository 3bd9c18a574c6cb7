/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_part.h - how values become parts of an index's keys, so that
 *
 *   order(encode(a), encode(b)) is order(a, b) for values of one type,
 *   decode(encode(x)) is x, and
 *   no concatenation of parts is ambiguous.
 *
 * A key may not hold every character a value may, and parts must be separated by something that
 * sorts below every character. Text stays readable; what cannot stay is written with short escapes:
 *
 *   "  " (two spaces) and one more character: "  !" is the end of a part, "  0".."  O" are the control
 *        characters U+0000..U+001F, "  Z" is a space that the plain form could not tell apart: one
 *        followed by the end, a space or a control character
 *   p~B  the forbidden character behind p: '#' is "~B behind a double quote, '/' is ".~B", '?' is ">~B",
 *        '\\' is "[~B"; U+007F and U+0080..U+009F are "~~B".."~~Z", "~~a".."~~h"
 *   p~A  p itself before a character that is written with '~' or above it: ".~A~" is ".~"
 *   "!"  at the start of a part: a type letter for what is not text, or "!!" for text that itself begins
 *        with "!" (written "!" and then its encoding)
 *
 * What is not text, digits being decimal and of fixed number:
 *
 *   Boolean   !b0 !b1
 *   Int32     !i0 and 10 digits; negative: !i- and 10 digits of (value + 2^31)
 *   Int64     !l0 and 19 digits; negative: !l- and 19 digits of (value + 2^63)
 *   DateTime  !t and 19 digits of ticks
 *   Double    !d and 16 hexadecimal digits; -0.0 comes just before +0.0, a NaN has no encoding
 *   Guid      !g and its 36 characters
 *   Binary    !x and lower-case hexadecimal
 *
 * width: Int32 and Int64 that are not negative, exactly `width` digits behind the type letter.
 * inverted: the digits of (maximum - value), without a sign; the maximum is that of the type (10
 * digits for Int32, 20 for Int64, 19 for DateTime) or of the width. Of a Double: the complement of
 * its 16 digits.
 * fold_case: text is folded (case_fold.h) before it is written, so what is read back is the folded
 * text, and "order" and "x" above are those of folded texts.
 *
 * The proof of order stands above the functions in key_part.c.
 */
#ifndef DOMAIN_PROPERTIES_KEY_PART_H
#define DOMAIN_PROPERTIES_KEY_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "domain/properties/property.h"

enum { KEY_PART_WIDTH_MAX = 19 }; /* the digits of the greatest Int64 */

struct key_part {
    bool is_literal;
    /* the literal, or the name of a property; PartitionKey, RowKey, Timestamp count */
    struct str text;
    /* decimal digits of a number, 1..KEY_PART_WIDTH_MAX; 0: the type's full range */
    int32_t width;
    bool inverted;       /* Int32, Int64, Double, DateTime: the largest first */
    bool fold_case;      /* text is compared without case; other values are not affected */
    uint32_t fold_table; /* with fold_case: CASE_FOLD_TABLE */
};

struct key_parts {
    struct key_part *parts;
    size_t count;
};

/*
 * Append the part to out, which is in an arena: a literal as it is, else value's encoding and,
 * unless it is the last part of its key, the end mark. Strings must be UTF-8.
 *
 * false: the value cannot be encoded - null, a NaN, one that does not fit width, or of a type that
 * width or inverted do not apply to: a violation. out is unchanged then.
 */
MUST_USE bool key_part_encode(
    const struct key_part *part, const struct value *value, bool last, struct buf *out);

/*
 * The value as the part compares it: with fold_case a text is folded, in the arena. part is no
 * literal.
 */
struct value key_part_compared(const struct key_part *part, const struct value *value, struct arena *arena);

/* How a value compares with the values that a part can hold. */
enum key_part_fit {
    KEY_PART_FITS, /* key_part_encode writes it */
    /* a number below the least of its type that the part can hold: with a width, below 0 */
    KEY_PART_BELOW,
    KEY_PART_ABOVE, /* ... above the greatest */
    KEY_PART_NEVER, /* no value of its type fits; nulls and NaN, which have no order */
};

/* Compare a value with those that the part, which is not a literal, can hold. */
enum key_part_fit key_part_fit(const struct key_part *part, const struct value *value);

/*
 * Why a value that does not fit cannot be encoded: "is a String, wanted: an Int32 or Int64 from 0
 * to 9999". It names types and bounds, never the value. In the arena, and ended by a NUL. part is
 * no literal.
 */
const char *key_part_objection(const struct key_part *part, const struct value *value, struct arena *arena);

/*
 * Read one encoded part, with its end mark, from the front of *key. Exactly the output of
 * key_part_encode is accepted, so of a part with fold_case folded text alone; a literal is returned
 * as a string.
 * false: *key does not begin with such a part; *key and *out are unchanged.
 */
MUST_USE bool key_part_decode(
    const struct key_part *part, struct str *key, bool last, struct arena *arena, struct value *out);

/* What is written between a part and the next one; smaller than every character of a part. */
extern const struct str key_part_end;

/*
 * The type letter with its "!", which every encoded value of this type starts with; empty for a
 * string.
 */
struct str key_part_prefix(enum property_type type);

/*
 * The smallest text above every text that starts with prefix; prefix must be UTF-8, and so is the
 * result. Empty when there is none (prefix is empty, or all U+10FFFF).
 */
struct str key_part_prefix_end(struct str prefix, struct arena *arena);

#endif
