/* SPDX-License-Identifier: Apache-2.0 */
/* s3_signature.c - see the header. */
#include "chunks/s3_signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"

enum { KEY_BYTES = 32, DATE_LEN = 8 };

/* The names of the signed headers, in their order. */
static const char *signed_headers(const struct s3_request *request)
{
    return request->session_token.len > 0 ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
                                          : "host;x-amz-content-sha256;x-amz-date";
}

void s3_signature_digest(struct str body, char out[S3_SIGNATURE_DIGEST_BYTES])
{
    unsigned char digest[KEY_BYTES];

    if (EVP_Digest(body.data, body.len, digest, NULL, EVP_sha256(), NULL) != 1)
        abort(); /* no memory */
    digits_encode_hex(str_of_bytes(digest, sizeof(digest)), out);
    out[S3_SIGNATURE_DIGEST_BYTES - 1] = '\0';
}

static void sign_text(struct str key, struct str text, unsigned char out[KEY_BYTES])
{
    unsigned int len = KEY_BYTES;

    if (!HMAC(EVP_sha256(), key.data, (int)key.len, (const unsigned char *)text.data, text.len, out, &len))
        abort(); /* no memory */
}

static struct str canonical_request(const struct s3_request *request, struct arena *arena)
{
    struct str token = STR_EMPTY;

    if (request->session_token.len > 0)
        token = arena_format(arena, "x-amz-security-token:%.*s\n", STR_ARG(request->session_token));
    return arena_format(arena, "%s\n%s\n%s\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n%.*s\n%s\n%s",
        request->method, request->path, request->query, request->host, request->digest, request->time,
        STR_ARG(token), signed_headers(request), request->digest);
}

/* The key that is derived from the secret for a day, a region and the service. */
static void derive_key(const struct s3_request *request, struct arena *arena, unsigned char out[KEY_BYTES])
{
    struct str secret = arena_format(arena, "AWS4%.*s", STR_ARG(request->secret_key));
    const struct str parts[] = { str_of_bytes(request->time, DATE_LEN), str_of(request->region),
        STR_LITERAL("s3"), STR_LITERAL("aws4_request") };
    unsigned char key[KEY_BYTES];

    sign_text(secret, parts[0], key);
    for (size_t i = 1; i < ARRAY_LEN(parts); i++) {
        sign_text(str_of_bytes(key, sizeof(key)), parts[i], out);
        memcpy(key, out, sizeof(key));
    }
}

const char *s3_signature_make(const struct s3_request *request, struct arena *arena)
{
    char digest[S3_SIGNATURE_DIGEST_BYTES], hex[S3_SIGNATURE_DIGEST_BYTES];
    unsigned char key[KEY_BYTES], signature[KEY_BYTES];
    struct str scope, text;

    s3_signature_digest(canonical_request(request, arena), digest);
    scope = arena_format(arena, "%.8s/%s/s3/aws4_request", request->time, request->region);
    text = arena_format(arena, "AWS4-HMAC-SHA256\n%s\n%.*s\n%s", request->time, STR_ARG(scope), digest);
    derive_key(request, arena, key);
    sign_text(str_of_bytes(key, sizeof(key)), text, signature);
    digits_encode_hex(str_of_bytes(signature, sizeof(signature)), hex);
    hex[sizeof(hex) - 1] = '\0';
    return arena_format(arena, "AWS4-HMAC-SHA256 Credential=%.*s/%.*s,SignedHeaders=%s,Signature=%s",
        STR_ARG(request->access_key), STR_ARG(scope), signed_headers(request), hex)
        .data;
}
