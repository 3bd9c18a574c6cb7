/*
 * key_part.h - how values become parts of an index's keys, so that
 *
 *   order(encode(a), encode(b)) is order(a, b) for values of one type,
 *   decode(encode(x)) is x, and
 *   no concatenation of parts is ambiguous.
 *
 * A key may not hold every character a value may, and parts must be separated by something that sorts
 * below every character. Text stays readable; what cannot stay is written with short escapes:
 *
 *   "  " (two spaces) and one more character: the part's end, a control character, or a space
 *        that the plain form could not tell apart (one followed by the end, a space or a control)
 *   p ~ x: the forbidden character behind p (for p one of " . > [ ~), or p itself before a
 *        character that would sort above it: '/' is written ".~B"
 *   "!" at the start of a part: a type letter for what is not text ("!i0000000005" is the Int32 5);
 *        text that itself begins with "!" is written "!s!..."
 *
 * The rules, with their proof of order, stand above the functions in key_part.c.
 */
#ifndef DOMAIN_KEY_PART_H
#define DOMAIN_KEY_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "domain/property.h"

struct key_part {
    bool is_literal;
    struct str text; /* the literal, or the name of a property; PartitionKey, RowKey, Timestamp count */
    int32_t width;   /* decimal digits of a number, 0: the type's full range */
    bool inverted;   /* Int32, Int64, DateTime: the largest first */
    bool fold_case;  /* not honoured yet, refused by name */
};

struct key_parts {
    struct key_part *parts;
    size_t count;
};

/*
 * Append value's encoding to out. last: nothing follows in this key, no end mark is written.
 * false: the value cannot be encoded (does not fit width, cannot be inverted): a violation.
 */
bool key_part_encode(const struct key_part *part, const struct value *value, bool last, struct buf *out);

/* Take one encoded part from the front of *key: the reverse. false: it is none. */
bool key_part_decode(
    const struct key_part *part, struct str *key, bool last, struct arena *arena, struct value *out);

/* The end mark, and the smallest text above every text that starts with prefix ("" when there is none). */
extern const struct str key_part_end;
struct str key_prefix_end(struct str prefix, struct arena *arena);

#endif
