/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_page_token.c - any bytes as a page token: as its text, as the signed content inside it, and as a change of one
 * byte of a valid one. Only signed content is accepted, and any signed content is read safely.
 */
#include <openssl/hmac.h>

#include "base/base64url.h"
#include "base/buf.h"
#include "domain/token.h"
#include "tests/fuzz/fuzz.h"

enum { SEALED = 2, SIGNATURE_BYTES = 16, HASH_BYTES = 32, EMPTY_STRINGS_BYTES = 2 };

fuzz_fn fuzz_page_token;

static const struct token_key key = { { 1 } };
static const struct token first_page = { .purpose = TOKEN_PAGE,
    .table_id = 7,
    .query = STR_LITERAL("query"),
    .first = STR_EMPTY,
    .second = STR_EMPTY };

static bool decode(struct str text, enum token_purpose purpose, struct arena *arena, struct token *out)
{
    struct error err;

    *out = (struct token){ .purpose = purpose, .query = first_page.query };
    return token_decode(&key, text, arena, out, &err) == STATUS_OK;
}

static bool is_sealed(struct str text, struct arena *arena)
{
    struct str bytes;

    return base64url_decode(text, arena, &bytes) && bytes.len > 0 && bytes.data[0] == SEALED;
}

/* One text stands for one content; a signed token may be from before positions were sealed. */
static void check_text(struct str text, struct arena *arena)
{
    struct token token, again;

    for (enum token_purpose purpose = TOKEN_PAGE; purpose <= TOKEN_SCAN; purpose++) {
        struct str own;

        if (!decode(text, purpose, arena, &token))
            continue;
        own = token_encode(&key, &token, arena);
        fuzz_require(decode(own, purpose, arena, &again));
        fuzz_require(str_equal(again.first, token.first) && str_equal(again.second, token.second));
        fuzz_require(!is_sealed(text, arena) || str_equal(own, text));
    }
}

/* The input instead of the two strings of a valid token, signed with the right key. */
static void check_content(struct str input, struct arena *arena)
{
    unsigned char hash[HASH_BYTES];
    struct token token, again, in_clear = first_page;
    struct str good;
    struct buf content;

    in_clear.purpose = TOKEN_CONSISTENCY;
    fuzz_require(base64url_decode(token_encode(&key, &in_clear, arena), arena, &good));
    buf_init(&content, arena);
    buf_append(&content, str_of_bytes(good.data, good.len - SIGNATURE_BYTES - EMPTY_STRINGS_BYTES));
    buf_append(&content, input);
    fuzz_require(HMAC(EVP_sha256(), key.bytes, sizeof(key.bytes), (const unsigned char *)content.data,
        content.len, hash, NULL));
    buf_append(&content, str_of_bytes(hash, SIGNATURE_BYTES));
    if (!decode(base64url_encode(buf_str(&content), arena), in_clear.purpose, arena, &token))
        return;
    fuzz_require(token.table_id == first_page.table_id);
    fuzz_require(decode(token_encode(&key, &token, arena), in_clear.purpose, arena, &again));
    fuzz_require(str_equal(again.first, token.first) && str_equal(again.second, token.second));
}

/* Bytes 0 and 1 say where a valid token is changed, and how; the rest are its strings. */
static void check_forged(struct str input, struct arena *arena)
{
    struct token token = first_page, forged;
    struct str good, text;
    size_t position;
    char *bytes;

    if (input.len < 2 || input.len > 1024)
        return;
    token.first = str_of_bytes(input.data + 2, (input.len - 2) / 2);
    token.second = str_from(input, 2 + token.first.len);
    text = token_encode(&key, &token, arena);
    fuzz_require(decode(text, TOKEN_PAGE, arena, &forged));
    fuzz_require(str_equal(forged.first, token.first) && str_equal(forged.second, token.second));
    fuzz_require(!decode(text, TOKEN_SCAN, arena, &forged));
    fuzz_require(base64url_decode(text, arena, &good));
    bytes = arena_alloc(arena, good.len);
    memcpy(bytes, good.data, good.len);
    position = (unsigned char)input.data[0] % good.len;
    bytes[position] = (char)(bytes[position] ^ (input.data[1] ? input.data[1] : 1));
    fuzz_require(!decode(base64url_encode(str_of_bytes(bytes, good.len), arena), TOKEN_PAGE, arena, &forged));
    fuzz_require(
        !decode(base64url_encode(str_of_bytes(good.data, position), arena), TOKEN_PAGE, arena, &forged));
}

void fuzz_page_token(struct str input)
{
    struct arena arena;

    arena_init(&arena);
    check_text(input, &arena);
    check_content(input, &arena);
    check_forged(input, &arena);
    arena_cleanup(&arena);
}
