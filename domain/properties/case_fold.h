/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case_fold.h - text without case: Unicode's simple case folding, character by character.
 *
 * A character is replaced by one character, that of status C or S in the standard's
 * CaseFolding.txt, or stays what it is. So
 *
 *   sharp s (U+00DF) and its capital (U+1E9E) are one, but neither is "ss": full folding, which would make texts
 *   longer, is not used
 *   dotless i (U+0131) and I with a dot (U+0130) stay what they are, and I is i: the rules for Turkish are not used
 *   the Greek sigmas are one, also that of the end of words; the Kelvin sign is k; long s (U+017F) is s
 *   Cherokee is folded to its capitals
 *   an accent stays, and nothing is composed or decomposed: U+00E9 is not e with U+0301
 *
 * A folded text is UTF-8, and may have other bytes, up to one and a half times as many. Folding it
 * again changes nothing.
 */
#ifndef DOMAIN_PROPERTIES_CASE_FOLD_H
#define DOMAIN_PROPERTIES_CASE_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * The number of the table, which stands in declarations: entries are stored by it. 1 is that of
 * Unicode 15.0.0; the build refuses a file of the standard that gives another one
 * (cmake/case_fold.cmake).
 */
enum { CASE_FOLD_TABLE = 1 };

struct case_fold_pair {
    uint32_t from, to;
};

/* The table, ascending by `from`; generated. */
extern const struct case_fold_pair case_fold_pairs[];
extern const size_t case_fold_pair_count;

/* Append the text, which must be UTF-8, to out, each character folded. */
void case_fold_append(struct str text, struct buf *out);

#endif
