/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.c - version, purpose, table id, the query's digest, two counted strings; behind them the signature.
 *
 * The digest is SHA-256 cut to eight bytes: it lets us say "of another query" and not just "forged".
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

enum { VERSION = 1, DIGEST_BYTES = 8, SIGNATURE_BYTES = 16, HASH_BYTES = 32 };

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

struct str token_encode(const struct token_key *key, const struct token *token, struct arena *arena)
{
    uint8_t hash[HASH_BYTES];
    struct buf out;

    buf_init(&out, arena);
    buf_append_byte(&out, VERSION);
    buf_append_byte(&out, (uint8_t)token->purpose);
    wire_write_varint(&out, wire_zigzag(token->table_id));
    digest_query(token->query, hash);
    buf_append(&out, str_of_bytes(hash, DIGEST_BYTES));
    write_counted(&out, token->first);
    write_counted(&out, token->second);
    sign_content(key, buf_str(&out), hash);
    buf_append(&out, str_of_bytes(hash, SIGNATURE_BYTES));
    return base64url_encode(buf_str(&out), arena);
}

static enum status refuse_token(const char *what, struct error *err)
{
    return reason_set(err, REASON_PAGE_TOKEN_INVALID, "the token %s; pass tokens on unchanged", what);
}

/* Cut the signature off and check it. */
static bool is_genuine(const struct token_key *key, struct str *content)
{
    uint8_t hash[HASH_BYTES];

    if (content->len < SIGNATURE_BYTES)
        return false;
    content->len -= SIGNATURE_BYTES;
    sign_content(key, *content, hash);
    return CRYPTO_memcmp(hash, content->data + content->len, SIGNATURE_BYTES) == 0;
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
    if (!is_genuine(key, &content))
        return refuse_token("was not made by this service, or was changed", err);
    if (content.len < 2 || content.data[0] != VERSION)
        return refuse_token("is of a version that is no longer read", err);
    if (content.data[1] != (char)token->purpose)
        return refuse_token("was made for another kind of call", err);
    content = str_from(content, 2);
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
