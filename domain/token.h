/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.h - opaque tokens: base64url text, versioned, bound to a purpose, a table's incarnation and
 * the query they continue. Callers can neither make nor change one, and cannot read those that hold
 * a position.
 */
#ifndef DOMAIN_TOKEN_H
#define DOMAIN_TOKEN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum token_purpose {
    TOKEN_PAGE = 1,
    TOKEN_LOOKUP = 3,
    TOKEN_LIST = 4,
    TOKEN_COUNT = 5,
    TOKEN_SCAN = 6,
    TOKEN_CONSISTENCY = 7,
    TOKEN_CHANGES = 8,
    TOKEN_HISTORY = 9,
};

struct token_key {
    uint8_t bytes[32];
};

struct token {
    enum token_purpose purpose;
    int64_t table_id; /* 0: the token is bound to no table */
    /* any bytes that represent the other fields of the query; only their digest is kept */
    struct str query;
    struct str first, second; /* the position: two strings */
};

struct str token_encode(const struct token_key *key, const struct token *token, struct arena *arena);

/*
 * Check text against the purpose and the query of *token, and fill its table_id, first and second,
 * which are unchanged on failure.
 *
 * STATUS_INVALID  PAGE_TOKEN_INVALID: malformed, forged, of another purpose or another query
 */
MUST_USE enum status token_decode(const struct token_key *key, struct str text, struct arena *arena,
    struct token *token, struct error *err);

#endif
