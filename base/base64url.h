/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64url.h - bytes as text of letters, digits, - and _, without padding: what tokens are written in.
 */
#ifndef BASE_BASE64URL_H
#define BASE_BASE64URL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

struct str base64url_encode(struct str bytes, struct arena *arena);

/*
 * false: another character, or bits left over that are not zero: every sequence of bytes has one text only.
 */
bool base64url_decode(struct str text, struct arena *arena, struct str *out);

#endif
