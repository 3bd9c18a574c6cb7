/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web_keys.h - the keys with which other parties sign bearer tokens, from a JSON Web Key Set (RFC 7517),
 * and the check of a signature.
 *
 *   kty   algorithm   what is asked of the key
 *   oct   HS256       32 bytes or more
 *   RSA   RS256       2,048 bits or more
 *   EC    ES256       the curve P-256
 *
 * A key has one algorithm, that of its type, and signs with no other. Keys of the set that are for other
 * algorithms, or for encrypting (use), are left out. Private parts of RSA and EC keys are not looked at.
 */
#ifndef API_JWT_WEB_KEYS_H
#define API_JWT_WEB_KEYS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

enum { WEB_KEYS_MAX = 64 };

struct web_keys;

/*
 * Read a set. *out belongs to the caller.
 *
 * STATUS_INVALID  the text is no set, has more than WEB_KEYS_MAX keys, two with one id, none for these algorithms,
 *                 or a key that is damaged or too weak; the message says which
 */
MUST_USE enum status web_keys_parse(struct str text, struct web_keys **out, struct error *err);

/* Accepts NULL. */
void web_keys_free(struct web_keys *keys);

/*
 * Whether the key with this id has signed the token with this algorithm (as tokens name it: "RS256").
 * Without an id the set must have one key for the algorithm. `none`, and an algorithm that is not that of
 * the key, are false.
 */
bool web_keys_verify(const struct web_keys *keys, struct str token, struct str algorithm, struct str id);

#endif
