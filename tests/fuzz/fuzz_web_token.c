/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_web_token.c - any bytes as a JSON Web Token: as its text, and as its header and claims, a line each.
 * What is read can be accepted, and no key verifies it.
 */
#include "api/jwt/web_keys.h"
#include "api/jwt/web_token.h"
#include "base/base64url.h"
#include "domain/limits.h"
#include "domain/ticks.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_web_token;

#define NOW INT64_C(134444700000000000) /* an hour before 1800000000 seconds of 1970 */

static const char set[] =
    "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"h\",\"k\":\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY\"}]}";

static void check(struct str text, const struct web_keys *keys, struct arena *arena)
{
    const struct web_token_rules rules = { STR_EMPTY, STR_LITERAL("a") };
    struct credential credential;
    struct web_token_header header;

    if (web_token_read_header(text, arena, &header)) {
        fuzz_require(web_token_is_one(text));
        fuzz_require(!web_keys_verify(keys, text, header.algorithm, header.key_id));
    }
    if (!web_token_read(text, &rules, NOW, arena, &credential))
        return;
    fuzz_require(web_token_is_one(text));
    fuzz_require(credential.kind == CREDENTIAL_BEARER && credential_check(&credential, NULL) == STATUS_OK);
    fuzz_require(credential.expiry - NOW <= LIMIT_TOKEN_LIFETIME_S * TICKS_PER_SECOND);
    fuzz_require(credential.opens_account || credential.permissions != 0);
    fuzz_require((credential.table.len == 0) == (credential.opens_account || credential.resources != 0));
}

void fuzz_web_token(struct str input)
{
    struct web_keys *keys = NULL;
    struct str header, text;
    struct arena arena;

    arena_init(&arena);
    fuzz_require(web_keys_parse(str_of(set), &keys, NULL) == STATUS_OK);
    check(input, keys, &arena);
    header = base64url_encode(str_take(&input, '\n'), &arena);
    text = arena_format(&arena, "%.*s.%.*s.eA", STR_ARG(header), STR_ARG(base64url_encode(input, &arena)));
    check(text, keys, &arena);
    web_keys_free(keys);
    arena_cleanup(&arena);
}
