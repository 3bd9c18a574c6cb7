/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_web_keys.c - any bytes as a JSON Web Key Set: it is refused with a reason, or its keys are used for
 * a token, which none of them has signed.
 */
#include "api/jwt/web_keys.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_web_keys;

/* {"alg":"HS256"} and so on, {} and a signature of 32 bytes */
#define HS256 "eyJhbGciOiJIUzI1NiJ9.e30.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define ES256 "eyJhbGciOiJFUzI1NiJ9.e30.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

void fuzz_web_keys(struct str input)
{
    struct web_keys *keys = NULL;
    struct error err = { 0 };

    if (web_keys_parse(input, &keys, &err) != STATUS_OK) {
        fuzz_require(!keys && err.message[0]);
        return;
    }
    fuzz_require(!web_keys_verify(keys, STR_LITERAL(HS256), STR_LITERAL("HS256"), STR_EMPTY));
    fuzz_require(!web_keys_verify(keys, STR_LITERAL(ES256), STR_LITERAL("ES256"), STR_EMPTY));
    fuzz_require(!web_keys_verify(keys, STR_LITERAL(HS256), STR_LITERAL("HS256"), STR_LITERAL("k")));
    web_keys_free(keys);
}
