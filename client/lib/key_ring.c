/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ring.c - see the header.
 */
#include "client/lib/key_ring.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/call_error.h"

enum { MAX_LINE_BYTES = 512, BASE64_DIGITS = 44, BASE64_BYTES = 33 };

#define SPACES " \t\r\n"

/* ---- the file ---- */

/* 32 bytes of base64 have 43 digits and one '='. */
static bool decode_key(struct str text, uint8_t out[static AEAD_KEY_BYTES])
{
    uint8_t decoded[BASE64_BYTES];
    bool good = text.len == BASE64_DIGITS && text.data[BASE64_DIGITS - 1] == '=' &&
                text.data[BASE64_DIGITS - 2] != '=' &&
                EVP_DecodeBlock(decoded, (const uint8_t *)text.data, BASE64_DIGITS) == BASE64_BYTES;

    if (good)
        memcpy(out, decoded, AEAD_KEY_BYTES);
    OPENSSL_cleanse(decoded, sizeof(decoded));
    return good;
}

static bool is_key_id(struct str id)
{
    if (id.len < 1 || id.len > TAVOLA_MAX_KEY_ID)
        return false;
    for (size_t i = 0; i < id.len; i++)
        if ((unsigned char)id.data[i] >= 0x80)
            return false;
    return true;
}

static bool parse_key(struct str line, struct ring_key *out)
{
    size_t id_len = 0;

    while (id_len < line.len && !strchr(SPACES, line.data[id_len]))
        id_len++;
    if (!is_key_id(str_of_bytes(line.data, id_len)))
        return false;
    memcpy(out->id, line.data, id_len);
    out->id[id_len] = '\0';
    return decode_key(str_trim(str_from(line, id_len), SPACES), out->bytes);
}

static enum tavola_code read_keys(
    FILE *file, const char *path, struct key_ring *out, struct tavola_error *error)
{
    char text[MAX_LINE_BYTES];

    for (int number = 1; fgets(text, sizeof(text), file); number++) {
        struct str line = str_trim(str_of(text), SPACES);

        if (line.len == 0 || line.data[0] == '#')
            continue;
        if (out->count == MAX_RING_KEYS)
            return call_error_set(error, TAVOLA_INVALID_ARGUMENT, "%s, line %d: more than %d keys", path,
                number, MAX_RING_KEYS);
        if (!parse_key(line, &out->keys[out->count]))
            return call_error_set(error, TAVOLA_INVALID_ARGUMENT,
                "%s, line %d: not a key id and 32 bytes in base64", path, number);
        out->count++;
    }
    OPENSSL_cleanse(text, sizeof(text));
    if (ferror(file))
        return call_error_set(error, TAVOLA_INVALID_ARGUMENT, "%s cannot be read: %s", path, strerror(errno));
    if (out->count == 0)
        return call_error_set(error, TAVOLA_INVALID_ARGUMENT, "%s has no key", path);
    return TAVOLA_OK;
}

enum tavola_code key_ring_read(const char *path, struct key_ring *out, struct tavola_error *error)
{
    FILE *file = fopen(path, "re");
    enum tavola_code code;

    out->count = 0;
    if (!file)
        return call_error_set(error, TAVOLA_INVALID_ARGUMENT, "%s cannot be read: %s", path, strerror(errno));
    code = read_keys(file, path, out, error);
    fclose(file);
    return code;
}

/* ---- wrapping ---- */

void key_ring_bind(struct buf *out, struct str text)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_append_byte(out, (uint8_t)(text.len >> shift));
    buf_append(out, text);
}

static struct str bound_to(const char *key_id, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    key_ring_bind(&out, STR_LITERAL("tavola.key.1"));
    key_ring_bind(&out, str_of(key_id));
    return buf_str(&out);
}

bool key_ring_wrap(void *context, const unsigned char *content_key, struct tavola_wrapped_key *out)
{
    const struct key_ring *ring = context;
    struct ring_key current = ring->keys[0];
    uint8_t nonce[AEAD_NONCE_BYTES];
    struct arena arena;

    if (RAND_bytes(nonce, sizeof(nonce)) != 1)
        return false;
    arena_init(&arena);
    memcpy(out->key_id, current.id, sizeof(current.id));
    out->size = TAVOLA_CONTENT_KEY_BYTES + AEAD_EXTRA_BYTES;
    aead_seal(current.bytes, nonce, bound_to(current.id, &arena),
        str_of_bytes(content_key, TAVOLA_CONTENT_KEY_BYTES), out->bytes);
    arena_cleanup(&arena);
    OPENSSL_cleanse(&current, sizeof(current));
    return true;
}

static const struct ring_key *find_key(const struct key_ring *ring, const char *key_id)
{
    for (size_t i = 0; i < ring->count; i++)
        if (strcmp(ring->keys[i].id, key_id) == 0)
            return &ring->keys[i];
    return NULL;
}

enum tavola_code key_ring_unwrap(
    void *context, const struct tavola_wrapped_key *wrapped, unsigned char *content_key)
{
    const struct ring_key *key = find_key(context, wrapped->key_id);
    struct arena arena;
    bool good;

    if (!key)
        return TAVOLA_NOT_FOUND;
    if (wrapped->size != TAVOLA_CONTENT_KEY_BYTES + AEAD_EXTRA_BYTES)
        return TAVOLA_DATA_LOSS;
    arena_init(&arena);
    good = aead_open(key->bytes, bound_to(wrapped->key_id, &arena),
        str_of_bytes(wrapped->bytes, wrapped->size), content_key);
    arena_cleanup(&arena);
    return good ? TAVOLA_OK : TAVOLA_DATA_LOSS;
}
