/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_credential.c - any bytes as a credential, as its text and as the fields inside it: it is refused, or the
 * fields that were read can be signed and are read the same again. Without a key's signature none is accepted.
 */
#include "base/base64url.h"
#include "domain/access/credential.h"
#include "domain/limits.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_credential;

static const struct account account = { .keys = { { { 1 } }, { { 2 } } } };

static void check(struct str text, struct arena *arena)
{
    struct credential credential, again;
    struct str signed_again;

    if (!credential_parse(text, arena, &credential))
        return;
    fuzz_require(!credential_is_genuine(&credential, &account));
    fuzz_require(credential_check(&credential, NULL) == STATUS_OK);
    signed_again = credential_sign(&credential, &account.keys[1], arena);
    fuzz_require(credential_parse(signed_again, arena, &again));
    fuzz_require(credential_is_genuine(&again, &account));
    fuzz_require(str_equal(credential_sign(&again, &account.keys[1], arena), signed_again));
    fuzz_require(str_equal(again.account, credential.account) && str_equal(again.table, credential.table));
    fuzz_require(again.permissions == credential.permissions && again.expiry == credential.expiry);
}

void fuzz_credential(struct str input)
{
    static const char *const prefixes[] = { "tvt1.", "tvs1." };
    struct arena arena;

    arena_init(&arena);
    check(input, &arena);
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        struct str fields = base64url_encode(input, &arena);

        check(arena_format(&arena, "%s%.*s", prefixes[i], STR_ARG(fields)), &arena);
    }
    arena_cleanup(&arena);
}
