/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web_token.h - bearer tokens of other parties: JSON Web Tokens (RFC 7519) whose claims say what they open.
 * Pure.
 *
 *   claim                  meaning
 *   iss                    the issuer; must be that of the rules
 *   aud                    a text or a list of texts; one of them must be the audience of the rules
 *   exp                    seconds since 1970; required
 *   nbf, iat               seconds since 1970; the token is not valid before the later one
 *   tavola_account         the account's name; required
 *   tavola_permissions     required; "*": the whole account, without administration. Otherwise letters in this
 *                          order, each at most once: "raudit" with tavola_table, "raudlcw" without it
 *   tavola_table           a table's name; absent: all tables
 *   tavola_partition       only with tavola_table: the one partition that the token opens
 *
 * Other claims are not looked at. A header with "crit" is refused: nothing it could name is known.
 */
#ifndef API_JWT_WEB_TOKEN_H
#define API_JWT_WEB_TOKEN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "domain/access/credential.h"

/* What a token must say; empty: it may say anything. */
struct web_token_rules {
    struct str issuer, audience;
};

/* What is asked before a key can be: the texts are in the arena. */
struct web_token_header {
    struct str algorithm;
    struct str key_id; /* empty: none */
};

/* Whether the text could be a JSON Web Token: three parts of base64url between dots. */
bool web_token_is_one(struct str text);

/*
 * Read the algorithm and the key's id from the header; false: it is no header of a signed token.
 */
bool web_token_read_header(struct str text, struct arena *arena, struct web_token_header *out);

/*
 * Read the claims as a credential of the kind CREDENTIAL_BEARER, without verifying the signature. Whether
 * it is valid at a moment, credential_access decides; it is not valid for more than LIMIT_TOKEN_LIFETIME_S
 * from now (ticks).
 *
 * false: a claim is missing, has another type, is not what the rules ask for, or the credential could never
 * be accepted
 */
bool web_token_read(struct str text, const struct web_token_rules *rules, int64_t now, struct arena *arena,
    struct credential *out);

#endif
