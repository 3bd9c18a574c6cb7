/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.c - the content is: purpose, table id, the query's digest, two counted strings. It has one
 * of two forms:
 *
 *   sealed  version 2, salt, the content encrypted (AES-256-GCM), tag. A token's key comes from the token key and the
 *           salt, and the salt from the content: no key is used for two contents, and equal tokens have equal texts.
 *   signed  version 1, the content in clear, HMAC-SHA256 cut to 16 bytes
 *
 * A token with a position among keys is sealed, since its bearer may not be allowed to see the key
 * at the position. A token that servers keep or compare themselves is signed. Signed tokens of
 * every purpose are still read, since callers may have got theirs from an earlier version.
 *
 * The digest is SHA-256 cut to eight bytes. With it the error can say that the token is of another
 * query instead of just invalid.
 */
#include "domain/token.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/base64url.h"
#include "base/buf.h"
#include "base/wire.h"
#include "domain/limits.h"
#include "domain/reason.h"

enum { VERSION_SIGNED = 1, VERSION_SEALED = 2 };
enum { DIGEST_BYTES = 8, SIGNATURE_BYTES = 16, HASH_BYTES = 32, SALT_BYTES = 16, TAG_BYTES = 16 };

/*
 * The purposes for which the token key is used; the content of a signed token begins with
 * VERSION_SIGNED instead.
 */
#define FOR_SALT STR_LITERAL("salt of a token")
#define FOR_SEAL STR_LITERAL("key of a token")

/* ---- content ---- */

static void sign_content(const struct token_key *key, struct str content, uint8_t out[static HASH_BYTES])
{
    unsigned len = HASH_BYTES;
    const uint8_t *done = HMAC(
        EVP_sha256(), key->bytes, sizeof(key->bytes), (const uint8_t *)content.data, content.len, out, &len);

    assert(done && len == HASH_BYTES && "HMAC-SHA256 is always there");
    (void)done;
}

static void digest_query(struct str query, uint8_t out[static HASH_BYTES])
{
    int done = EVP_Digest(query.len ? query.data : "", query.len, out, NULL, EVP_sha256(), NULL);

    assert(done == 1 && "SHA-256 is always there");
    (void)done;
}

static void write_counted(struct buf *out, struct str text)
{
    wire_write_varint(out, text.len);
    buf_append(out, text);
}

static bool read_counted(struct str *rest, struct str *out)
{
    uint64_t len;

    if (!wire_read_varint(rest, &len) || len > rest->len)
        return false;
    *out = str_of_bytes(rest->data, (size_t)len);
    *rest = str_from(*rest, (size_t)len);
    return true;
}

static void write_content(struct buf *out, const struct token *token)
{
    uint8_t hash[HASH_BYTES];

    buf_append_byte(out, (uint8_t)token->purpose);
    wire_write_varint(out, wire_zigzag(token->table_id));
    digest_query(token->query, hash);
    buf_append(out, str_of_bytes(hash, DIGEST_BYTES));
    write_counted(out, token->first);
    write_counted(out, token->second);
}

/* ---- signed ---- */

static void write_signed(const struct token_key *key, const struct token *token, struct buf *out)
{
    uint8_t hash[HASH_BYTES];

    buf_append_byte(out, VERSION_SIGNED);
    write_content(out, token);
    sign_content(key, buf_str(out), hash);
    buf_append(out, str_of_bytes(hash, SIGNATURE_BYTES));
}

/* Check the signature, and remove it and the version. */
static bool open_signed(const struct token_key *key, struct str *content)
{
    uint8_t hash[HASH_BYTES];

    if (content->len < 1 + SIGNATURE_BYTES || content->data[0] != VERSION_SIGNED)
        return false;
    content->len -= SIGNATURE_BYTES;
    sign_content(key, *content, hash);
    if (CRYPTO_memcmp(hash, content->data + content->len, SIGNATURE_BYTES) != 0)
        return false;
    *content = str_from(*content, 1);
    return true;
}

/* ---- sealed ---- */

static void derive(const struct token_key *key, struct str use, struct str from, struct arena *arena,
    uint8_t out[static HASH_BYTES])
{
    struct buf text;

    buf_init(&text, arena);
    buf_append(&text, use);
    buf_append(&text, from);
    sign_content(key, buf_str(&text), out);
}

/* The nonce can be constant, because each content has another key. */
static const uint8_t nonce[12];

static EVP_CIPHER_CTX *cipher_of(
    const struct token_key *key, struct str salt, bool encrypts, struct arena *arena)
{
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    uint8_t own[HASH_BYTES];
    int done;

    derive(key, FOR_SEAL, salt, arena, own);
    done = cipher && EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), NULL, own, nonce, encrypts) == 1;
    assert(done && "AES-256-GCM is always there");
    (void)done;
    OPENSSL_cleanse(own, sizeof(own));
    return cipher;
}

static void write_sealed(
    const struct token_key *key, const struct token *token, struct arena *arena, struct buf *out)
{
    uint8_t salt[HASH_BYTES], tag[TAG_BYTES], rest[TAG_BYTES];
    EVP_CIPHER_CTX *cipher;
    struct buf content;
    uint8_t *sealed;
    int len = 0, done;

    buf_init(&content, arena);
    write_content(&content, token);
    derive(key, FOR_SALT, buf_str(&content), arena, salt);
    sealed = arena_alloc(arena, content.len);
    cipher = cipher_of(key, str_of_bytes(salt, SALT_BYTES), true, arena);
    done = EVP_EncryptUpdate(cipher, sealed, &len, (const uint8_t *)content.data, (int)content.len) == 1 &&
           len == (int)content.len && EVP_EncryptFinal_ex(cipher, rest, &len) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, tag) == 1;
    assert(done && "memory of any content can be encrypted");
    (void)done;
    EVP_CIPHER_CTX_free(cipher);
    buf_append_byte(out, VERSION_SEALED);
    buf_append(out, str_of_bytes(salt, SALT_BYTES));
    buf_append(out, str_of_bytes(sealed, content.len));
    buf_append(out, str_of_bytes(tag, TAG_BYTES));
}

/*
 * Decrypt. false: the token is forged or damaged. Each content has one text only, so the salt must
 * be the content's too.
 */
static bool open_sealed(const struct token_key *key, struct arena *arena, struct str *content)
{
    uint8_t tag[TAG_BYTES], rest[TAG_BYTES], own[HASH_BYTES], *opened;
    struct str salt, sealed;
    EVP_CIPHER_CTX *cipher;
    int len = 0;
    bool good;

    if (content->len < 1 + SALT_BYTES + TAG_BYTES)
        return false;
    salt = str_of_bytes(content->data + 1, SALT_BYTES);
    sealed = str_from(*content, 1 + SALT_BYTES);
    sealed.len -= TAG_BYTES;
    memcpy(tag, sealed.data + sealed.len, TAG_BYTES);
    opened = arena_alloc(arena, sealed.len + 1);
    cipher = cipher_of(key, salt, false, arena);
    good = EVP_DecryptUpdate(cipher, opened, &len, (const uint8_t *)sealed.data, (int)sealed.len) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, tag) == 1 &&
           EVP_DecryptFinal_ex(cipher, rest, &len) == 1;
    EVP_CIPHER_CTX_free(cipher);
    *content = str_of_bytes(opened, sealed.len);
    if (!good)
        return false;
    derive(key, FOR_SALT, *content, arena, own);
    return CRYPTO_memcmp(own, salt.data, SALT_BYTES) == 0;
}

/* ---- both ---- */

static bool stays_in_clear(enum token_purpose purpose)
{
    return purpose == TOKEN_CONSISTENCY || purpose == TOKEN_HISTORY;
}

struct str token_encode(const struct token_key *key, const struct token *token, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    if (stays_in_clear(token->purpose))
        write_signed(key, token, &out);
    else
        write_sealed(key, token, arena, &out);
    return base64url_encode(buf_str(&out), arena);
}

static enum status refuse_token(const char *what, struct error *err)
{
    return reason_set(err, REASON_PAGE_TOKEN_INVALID, "the token %s; pass tokens on unchanged", what);
}

/* Verify or decrypt the token, and leave its content. */
static enum status open_token(
    const struct token_key *key, struct arena *arena, struct str *content, struct error *err)
{
    bool sealed = content->len > 0 && content->data[0] == VERSION_SEALED;

    if (sealed ? !open_sealed(key, arena, content) : !open_signed(key, content))
        return refuse_token("was not made by this service, or was changed", err);
    return STATUS_OK;
}

enum status token_decode(
    const struct token_key *key, struct str text, struct arena *arena, struct token *token, struct error *err)
{
    struct token found = *token;
    struct str content;
    uint8_t hash[HASH_BYTES];
    uint64_t table_id;

    if (text.len > LIMIT_TOKEN_BYTES || !base64url_decode(text, arena, &content))
        return refuse_token("is malformed", err);
    TRY(open_token(key, arena, &content, err));
    if (content.len < 1 || content.data[0] != (char)token->purpose)
        return refuse_token("was made for another kind of call", err);
    content = str_from(content, 1);
    if (!wire_read_varint(&content, &table_id) || content.len < DIGEST_BYTES)
        return refuse_token("is malformed", err);
    digest_query(token->query, hash);
    if (memcmp(hash, content.data, DIGEST_BYTES) != 0)
        return refuse_token("was made for another query", err);
    content = str_from(content, DIGEST_BYTES);
    if (!read_counted(&content, &found.first) || !read_counted(&content, &found.second) || content.len > 0)
        return refuse_token("is malformed", err);
    found.table_id = wire_unzigzag(table_id);
    *token = found;
    return STATUS_OK;
}
