/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - the rules of Unicode that other modules need.
 */
#ifndef DOMAIN_TEXT_H
#define DOMAIN_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Check that text is well-formed UTF-8 (no surrogates, no overlong forms) and count its UTF-16 code
 * units. false: it is malformed; *bad_offset is the first wrong byte. Either output may be NULL.
 */
bool text_check(struct str text, size_t *units, size_t *bad_offset);

/* Append one character, which is no surrogate, as UTF-8. */
void text_append(struct buf *out, uint32_t c);

/* Take one character from well-formed UTF-8; text must not be empty. */
uint32_t text_take(struct str *text);

#endif
