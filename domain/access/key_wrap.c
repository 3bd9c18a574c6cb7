/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_wrap.c - see the header.
 */
#include "domain/access/key_wrap.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/buf.h"
#include "base/digits.h"
#include "domain/aead.h"

enum { VERSION = 1, HASH_BYTES = 32, HEX_DIGITS = 2 * WRAPPING_KEY_BYTES };

#define FOR_ID "id of a wrapping key"

/* ---- wrapping keys ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static void make_id(struct wrapping_key *key)
{
    uint8_t text[sizeof(FOR_ID) + WRAPPING_KEY_BYTES], hash[HASH_BYTES];
    int done;

    memcpy(text, FOR_ID, sizeof(FOR_ID));
    memcpy(text + sizeof(FOR_ID), key->bytes, WRAPPING_KEY_BYTES);
    done = EVP_Digest(text, sizeof(text), hash, NULL, EVP_sha256(), NULL);
    assert(done == 1 && "SHA-256 is always there");
    (void)done;
    memcpy(key->id, hash, WRAPPING_ID_BYTES);
    OPENSSL_cleanse(text, sizeof(text));
}

static struct str take_word(struct str *rest)
{
    struct str word;

    while (rest->len > 0 && is_space(rest->data[0]))
        *rest = str_from(*rest, 1);
    word = str_of_bytes(rest->data, 0);
    while (word.len < rest->len && !is_space(rest->data[word.len]))
        word.len++;
    *rest = str_from(*rest, word.len);
    return word;
}

enum status key_wrap_parse(struct str text, struct wrapping_keys *out, struct error *err)
{
    struct wrapping_keys keys = { .count = 0 };
    struct str word;

    while ((word = take_word(&text)).len > 0) {
        struct wrapping_key *key = &keys.keys[keys.count];

        if (keys.count == MAX_WRAPPING_KEYS || word.len != HEX_DIGITS ||
            !digits_decode_hex(word, (char *)key->bytes))
            return error_set(err, STATUS_INVALID,
                "a wrapping key is 64 hexadecimal digits; there are 1 to %d, with white space between them",
                MAX_WRAPPING_KEYS);
        make_id(key);
        keys.count++;
    }
    if (keys.count == 0)
        return error_set(err, STATUS_INVALID, "there is no wrapping key: 64 hexadecimal digits");
    *out = keys;
    return STATUS_OK;
}

/* ---- account keys ---- */

struct str key_wrap_seal(const struct wrapping_keys *keys, struct str account, const struct account_key *key,
    const uint8_t nonce[WRAP_NONCE_BYTES], struct arena *arena)
{
    struct str plain = str_of_bytes(key->bytes, ACCOUNT_KEY_BYTES);
    uint8_t sealed[ACCOUNT_KEY_BYTES + AEAD_EXTRA_BYTES];
    struct buf out;

    if (keys->count == 0)
        return arena_copy(arena, plain);
    aead_seal(keys->keys[0].bytes, nonce, account, plain, sealed);
    buf_init(&out, arena);
    buf_append_byte(&out, VERSION);
    buf_append(&out, str_of_bytes(keys->keys[0].id, WRAPPING_ID_BYTES));
    buf_append(&out, str_of_bytes(sealed, sizeof(sealed)));
    return buf_str(&out);
}

static bool is_wrapped(struct str stored)
{
    return stored.len == WRAPPED_KEY_BYTES && stored.data[0] == VERSION;
}

/* The wrapping key that a wrapped key names; NULL: not among these. */
static const struct wrapping_key *find_key(const struct wrapping_keys *keys, struct str stored)
{
    for (size_t i = 0; i < keys->count; i++)
        if (memcmp(keys->keys[i].id, stored.data + 1, WRAPPING_ID_BYTES) == 0)
            return &keys->keys[i];
    return NULL;
}

bool key_wrap_is_current(const struct wrapping_keys *keys, struct str stored)
{
    if (keys->count == 0)
        return !is_wrapped(stored);
    return is_wrapped(stored) && find_key(keys, stored) == &keys->keys[0];
}

static bool open_wrapped(
    const struct wrapping_key *key, struct str account, struct str stored, struct account_key *out)
{
    struct account_key opened;
    bool done = aead_open(key->bytes, account, str_from(stored, 1 + WRAPPING_ID_BYTES), opened.bytes);

    if (done)
        *out = opened;
    OPENSSL_cleanse(&opened, sizeof(opened));
    return done;
}

enum status key_wrap_open(const struct wrapping_keys *keys, struct str account, struct str stored,
    struct account_key *out, struct error *err)
{
    const struct wrapping_key *key;
    char id[2 * WRAPPING_ID_BYTES];

    if (stored.len == ACCOUNT_KEY_BYTES) {
        memcpy(out->bytes, stored.data, ACCOUNT_KEY_BYTES);
        return STATUS_OK;
    }
    if (!is_wrapped(stored))
        return error_set(
            err, STATUS_INVALID, "the stored keys of account %.*s are damaged", STR_ARG(account));
    key = find_key(keys, stored);
    digits_encode_hex(str_of_bytes(stored.data + 1, WRAPPING_ID_BYTES), id);
    if (!key)
        return error_set(err, STATUS_INVALID,
            "the keys of account %.*s are wrapped with the wrapping key %.*s, which TAVOLA_WRAPPING_KEY and "
            "TAVOLA_WRAPPING_KEY_FILE do not have",
            STR_ARG(account), (int)sizeof(id), id);
    if (!open_wrapped(key, account, stored, out))
        return error_set(err, STATUS_INVALID,
            "the stored keys of account %.*s are damaged, or were wrapped for another account",
            STR_ARG(account));
    return STATUS_OK;
}
