/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.c - see the header.
 */
#include "domain/access/account.h"

#include "base/base64url.h"
#include "base/buf.h"
#include "base/digits.h"
#include "domain/limits.h"

#define PREFIX "tvk1."

bool account_name_is_valid(struct str name)
{
    if (name.len < LIMIT_ACCOUNT_NAME_MIN || name.len > LIMIT_ACCOUNT_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];

        if (!(c >= 'a' && c <= 'z') && !digits_is_decimal(c))
            return false;
    }
    return true;
}

struct str account_key_format(const struct account_key *key, struct arena *arena)
{
    struct str text = base64url_encode(str_of_bytes(key->bytes, ACCOUNT_KEY_BYTES), arena);

    return arena_format(arena, PREFIX "%.*s", STR_ARG(text));
}

bool account_key_parse(struct str text, struct arena *arena, struct account_key *out)
{
    struct str bytes;

    if (!str_starts_with(text, STR_LITERAL(PREFIX)) ||
        !base64url_decode(str_from(text, sizeof(PREFIX) - 1), arena, &bytes) ||
        bytes.len != ACCOUNT_KEY_BYTES)
        return false;
    memcpy(out->bytes, bytes.data, ACCOUNT_KEY_BYTES);
    return true;
}
