/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web_keys.c - libjwt checks signatures, with keys that are secrets or PEM; OpenSSL makes the PEM of the
 * numbers in the set.
 *
 * The library takes the algorithm from the token. It is compared with the key's before, so that no public
 * key is ever used as a secret, and after, in case the library has read the header otherwise than its
 * caller.
 */
#include "api/jwt/web_keys.h"

#include <jansson.h>
#include <jwt.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base64url.h"

enum {
    MIN_SECRET_BYTES = 32,
    MIN_RSA_BITS = 2048,
    COORDINATE_BYTES = 32,
    POINT_BYTES = 2 * COORDINATE_BYTES + 1
};

struct web_key {
    struct str id; /* empty: none */
    jwt_alg_t algorithm;
    struct str bytes; /* the secret, or PEM */
};

struct web_keys {
    struct arena arena;
    struct web_key items[WEB_KEYS_MAX];
    size_t count;
};

/* ---- one key ---- */

static bool read_bytes(const json_t *object, const char *name, struct arena *arena, struct str *out)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text && text[0] && base64url_decode(str_of(text), arena, out);
}

static bool read_secret(const json_t *object, struct arena *arena, struct web_key *out)
{
    return read_bytes(object, "k", arena, &out->bytes) && out->bytes.len >= MIN_SECRET_BYTES;
}

static bool is_usable(EVP_PKEY *key, const char *type)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool usable = context && EVP_PKEY_public_check(context) == 1 &&
                  (strcmp(type, "RSA") != 0 || EVP_PKEY_get_bits(key) >= MIN_RSA_BITS);

    EVP_PKEY_CTX_free(context);
    return usable;
}

static bool write_pem(EVP_PKEY *key, struct arena *arena, struct str *out)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *text = NULL;
    bool done = bio && PEM_write_bio_PUBKEY(bio, key) == 1;
    long len = done ? BIO_get_mem_data(bio, &text) : 0;

    if (done)
        *out = arena_copy(arena, str_of_bytes(text, (size_t)len));
    BIO_free(bio);
    return done;
}

/* The public key that the parameters describe, as PEM. */
static bool make_public(const char *type, OSSL_PARAM_BLD *build, struct arena *arena, struct str *out)
{
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;
    bool made = parameters && context && EVP_PKEY_fromdata_init(context) == 1 &&
                EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) == 1 &&
                is_usable(key, type) && write_pem(key, arena, out);

    EVP_PKEY_free(key);
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    return made;
}

static BIGNUM *number_of(struct str bytes)
{
    return BN_bin2bn((const unsigned char *)bytes.data, (int)bytes.len, NULL);
}

static bool read_rsa(const json_t *object, struct arena *arena, struct web_key *out)
{
    struct str modulus, exponent;
    OSSL_PARAM_BLD *build;
    BIGNUM *n, *e;
    bool made;

    if (!read_bytes(object, "n", arena, &modulus) || !read_bytes(object, "e", arena, &exponent))
        return false;
    build = OSSL_PARAM_BLD_new();
    n = number_of(modulus);
    e = number_of(exponent);
    made = build && n && e && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
           OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e) == 1 &&
           make_public("RSA", build, arena, &out->bytes);
    OSSL_PARAM_BLD_free(build);
    BN_free(n);
    BN_free(e);
    return made;
}

static bool read_curve(const json_t *object, struct arena *arena, struct web_key *out)
{
    const char *curve = json_string_value(json_object_get(object, "crv"));
    unsigned char point[POINT_BYTES] = { POINT_CONVERSION_UNCOMPRESSED };
    OSSL_PARAM_BLD *build;
    struct str x, y;
    bool made;

    if (!curve || strcmp(curve, "P-256") != 0 || !read_bytes(object, "x", arena, &x) ||
        !read_bytes(object, "y", arena, &y) || x.len != COORDINATE_BYTES || y.len != COORDINATE_BYTES)
        return false;
    memcpy(point + 1, x.data, x.len);
    memcpy(point + 1 + COORDINATE_BYTES, y.data, y.len);
    build = OSSL_PARAM_BLD_new();
    made = build &&
           OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
           OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)) == 1 &&
           make_public("EC", build, arena, &out->bytes);
    OSSL_PARAM_BLD_free(build);
    return made;
}

struct key_type {
    const char *name, *algorithm;
    jwt_alg_t library_algorithm;
    bool (*read)(const json_t *object, struct arena *arena, struct web_key *out);
};

static const struct key_type key_types[] = {
    { "oct", "HS256", JWT_ALG_HS256, read_secret },
    { "RSA", "RS256", JWT_ALG_RS256, read_rsa },
    { "EC", "ES256", JWT_ALG_ES256, read_curve },
};

static bool is_text_or_absent(const json_t *object, const char *name, const char *value)
{
    const json_t *found = json_object_get(object, name);

    return !found || (json_is_string(found) && strcmp(json_string_value(found), value) == 0);
}

/* NULL: the key is for something else. */
static const struct key_type *type_of(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "kty"));

    for (size_t i = 0; name && i < ARRAY_LEN(key_types); i++)
        if (strcmp(name, key_types[i].name) == 0 && is_text_or_absent(object, "use", "sig") &&
            is_text_or_absent(object, "alg", key_types[i].algorithm))
            return &key_types[i];
    return NULL;
}

/* ---- the set ---- */

static const struct web_key *find_key(const struct web_keys *keys, struct str id)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->items[i].id.len > 0 && str_equal(keys->items[i].id, id))
            return &keys->items[i];
    return NULL;
}

static enum status add_key(struct web_keys *keys, const json_t *object, size_t position, struct error *err)
{
    const json_t *id = json_object_get(object, "kid");
    const struct key_type *type = type_of(object);
    struct web_key *key = &keys->items[keys->count];

    if (!type)
        return STATUS_OK;
    if (keys->count == WEB_KEYS_MAX)
        return error_set(err, STATUS_INVALID, "the set has more than %d keys", (int)WEB_KEYS_MAX);
    *key = (struct web_key){ .algorithm = type->library_algorithm };
    if (id && json_is_string(id))
        key->id = arena_copy(&keys->arena, str_of(json_string_value(id)));
    if (find_key(keys, key->id))
        return error_set(
            err, STATUS_INVALID, "keys[%zu]: another key has the id %.*s", position, STR_ARG(key->id));
    if (!type->read(object, &keys->arena, key))
        return error_set(err, STATUS_INVALID,
            "keys[%zu]: no key for %s that can be used: oct needs k of 32 bytes or more, RSA n of 2048 bits "
            "or more and e, "
            "EC the curve P-256 with x and y",
            position, type->algorithm);
    keys->count++;
    return STATUS_OK;
}

static enum status add_keys(struct web_keys *keys, const json_t *set, struct error *err)
{
    const json_t *list = json_object_get(set, "keys");

    if (!json_is_array(list))
        return error_set(
            err, STATUS_INVALID, "not a JSON Web Key Set: an object with the array \"keys\" is expected");
    for (size_t i = 0; i < json_array_size(list); i++)
        TRY(add_key(keys, json_array_get(list, i), i, err));
    if (keys->count > 0)
        return STATUS_OK;
    return error_set(err, STATUS_INVALID, "the set has no key for HS256, RS256 or ES256");
}

enum status web_keys_parse(struct str text, struct web_keys **out, struct error *err)
{
    json_t *set = json_loadb(text.len > 0 ? text.data : "", text.len, JSON_REJECT_DUPLICATES, NULL);
    struct web_keys *keys = xcalloc(1, sizeof(*keys));
    enum status status;

    arena_init(&keys->arena);
    status = add_keys(keys, set, err);
    json_decref(set);
    if (status != STATUS_OK) {
        web_keys_free(keys);
        return status;
    }
    *out = keys;
    return STATUS_OK;
}

void web_keys_free(struct web_keys *keys)
{
    if (!keys)
        return;
    arena_cleanup(&keys->arena);
    free(keys);
}

/* ---- a signature ---- */

static const struct web_key *only_key(const struct web_keys *keys, jwt_alg_t algorithm)
{
    const struct web_key *found = NULL;

    for (size_t i = 0; i < keys->count; i++)
        if (keys->items[i].algorithm == algorithm) {
            if (found)
                return NULL;
            found = &keys->items[i];
        }
    return found;
}

static bool algorithm_of(struct str name, jwt_alg_t *out)
{
    for (size_t i = 0; i < ARRAY_LEN(key_types); i++)
        if (str_equal(name, str_of(key_types[i].algorithm))) {
            *out = key_types[i].library_algorithm;
            return true;
        }
    return false;
}

bool web_keys_verify(const struct web_keys *keys, struct str token, struct str algorithm, struct str id)
{
    const struct web_key *key;
    jwt_alg_t expected;
    jwt_t *read = NULL;
    char *text;
    bool genuine;

    if (!algorithm_of(algorithm, &expected))
        return false;
    key = id.len > 0 ? find_key(keys, id) : only_key(keys, expected);
    if (!key || key->algorithm != expected)
        return false;
    text = xcalloc(1, token.len + 1);
    memcpy(text, token.data, token.len);
    genuine = jwt_decode(&read, text, (const unsigned char *)key->bytes.data, (int)key->bytes.len) == 0 &&
              jwt_get_alg(read) == expected;
    jwt_free(read);
    free(text);
    return genuine;
}
