/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64url.h - bytes as text of letters, digits, - and _, without padding; tokens have this form.
 */
#ifndef BASE_BASE64URL_H
#define BASE_BASE64URL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

struct str base64url_encode(struct str bytes, struct arena *arena);

/*
 * false: the text has another character, or unused bits that are not zero. So each sequence of
 * bytes has one text only.
 */
bool base64url_decode(struct str text, struct arena *arena, struct str *out);

#endif
