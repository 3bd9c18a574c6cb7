/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_web_token.c - bearer tokens of other parties: which keys verify them, and what their claims open. The tokens are
 * signed here, with keys that are made once: to make one can take seconds on a machine that is busy.
 */
#include "api/jwt/web_token.h"

#include <check.h>
#include <jwt.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>

#include "api/jwt/web_keys.h"
#include "base/base64url.h"
#include "domain/ticks.h"

#define SECRET "0123456789abcdef0123456789abcdef"
#define NOW INT64_C(1800000000)
#define GOOD                                                                                                 \
    "\"iss\":\"i\",\"aud\":\"a\",\"exp\":1800000600,\"tavola_account\":\"acme\",\"tavola_permissions\":\"*"  \
    "\""

static struct arena arena;
static struct web_keys *keys;
static EVP_PKEY *rsa;

/* A public number of the key, or its point, in base64url. */
static struct str number_text(const EVP_PKEY *key, const char *name)
{
    BIGNUM *number = NULL;
    unsigned char bytes[512];
    int len;

    ck_assert_int_eq(EVP_PKEY_get_bn_param(key, name, &number), 1);
    len = BN_bn2bin(number, bytes);
    BN_free(number);
    return base64url_encode(str_of_bytes(bytes, (size_t)len), &arena);
}

static struct str rsa_key(const char *id)
{
    return arena_format(&arena, "{\"kty\":\"RSA\",\"kid\":\"%s\",\"n\":\"%.*s\",\"e\":\"%.*s\"}", id,
        STR_ARG(number_text(rsa, OSSL_PKEY_PARAM_RSA_N)), STR_ARG(number_text(rsa, OSSL_PKEY_PARAM_RSA_E)));
}

static struct str secret_key(const char *id)
{
    return arena_format(&arena, "{\"kty\":\"oct\",\"kid\":\"%s\",\"k\":\"%.*s\"}", id,
        STR_ARG(base64url_encode(STR_LITERAL(SECRET), &arena)));
}

static void take_keys(struct str first, struct str second)
{
    struct str set = arena_format(&arena, "{\"keys\":[%.*s,%.*s]}", STR_ARG(first), STR_ARG(second));
    struct error err = { 0 };

    ck_assert_msg(web_keys_parse(set, &keys, &err) == STATUS_OK, "%s", err.message);
}

static void make_key(void)
{
    rsa = EVP_RSA_gen(2048);
    ck_assert_ptr_nonnull(rsa);
}

static void free_key(void)
{
    EVP_PKEY_free(rsa);
}

static void setup(void)
{
    arena_init(&arena);
    keys = NULL;
}

static void teardown(void)
{
    web_keys_free(keys);
    arena_cleanup(&arena);
}

static struct str public_pem(void)
{
    BIO *bio = BIO_new(BIO_s_mem());
    struct str text;
    char *bytes;
    long len;

    ck_assert_int_eq(PEM_write_bio_PUBKEY(bio, rsa), 1);
    len = BIO_get_mem_data(bio, &bytes);
    text = arena_copy(&arena, str_of_bytes(bytes, (size_t)len));
    BIO_free(bio);
    return text;
}

static struct str private_pem(void)
{
    BIO *bio = BIO_new(BIO_s_mem());
    struct str text;
    char *bytes;
    long len;

    ck_assert_int_eq(PEM_write_bio_PrivateKey(bio, rsa, NULL, NULL, 0, NULL, NULL), 1);
    len = BIO_get_mem_data(bio, &bytes);
    text = arena_copy(&arena, str_of_bytes(bytes, (size_t)len));
    BIO_free(bio);
    return text;
}

static struct str a_token(jwt_alg_t algorithm, struct str key, const char *claims)
{
    struct str json = arena_format(&arena, "{%s}", claims);
    struct str text;
    char *encoded;
    jwt_t *jwt;

    ck_assert_int_eq(jwt_new(&jwt), 0);
    ck_assert_int_eq(jwt_add_grants_json(jwt, json.data), 0);
    ck_assert_int_eq(
        jwt_set_alg(jwt, algorithm, key.len > 0 ? (const unsigned char *)key.data : NULL, (int)key.len), 0);
    encoded = jwt_encode_str(jwt);
    ck_assert_ptr_nonnull(encoded);
    text = arena_copy(&arena, str_of(encoded));
    free(encoded);
    jwt_free(jwt);
    return text;
}

/* With any header and claims, and a signature that is none. */
static struct str a_text(const char *header, const char *claims)
{
    return arena_format(&arena, "%.*s.%.*s.eA", STR_ARG(base64url_encode(str_of(header), &arena)),
        STR_ARG(base64url_encode(str_of(claims), &arena)));
}

START_TEST(each_key_verifies_its_own_algorithm)
{
    take_keys(rsa_key("r"), secret_key("h"));
    ck_assert(web_keys_verify(
        keys, a_token(JWT_ALG_RS256, private_pem(), GOOD), STR_LITERAL("RS256"), STR_LITERAL("r")));
    ck_assert(web_keys_verify(
        keys, a_token(JWT_ALG_HS256, STR_LITERAL(SECRET), GOOD), STR_LITERAL("HS256"), STR_LITERAL("h")));
    ck_assert(web_keys_verify(
        keys, a_token(JWT_ALG_HS256, STR_LITERAL(SECRET), GOOD), STR_LITERAL("HS256"), STR_EMPTY));
    ck_assert(!web_keys_verify(
        keys, a_token(JWT_ALG_HS256, STR_LITERAL(SECRET "x"), GOOD), STR_LITERAL("HS256"), STR_LITERAL("h")));
    ck_assert(!web_keys_verify(
        keys, a_token(JWT_ALG_HS256, STR_LITERAL(SECRET), GOOD), STR_LITERAL("HS256"), STR_LITERAL("x")));
}
END_TEST

/* Guard G46. */
START_TEST(a_public_key_is_never_a_secret)
{
    struct str forged;

    take_keys(rsa_key("r"), secret_key("h"));
    forged = a_token(JWT_ALG_HS256, public_pem(), GOOD);
    ck_assert(!web_keys_verify(keys, forged, STR_LITERAL("HS256"), STR_LITERAL("r")));
    ck_assert(!web_keys_verify(keys, forged, STR_LITERAL("RS256"), STR_LITERAL("r")));
    ck_assert(!web_keys_verify(keys, forged, STR_LITERAL("HS256"), STR_EMPTY));
}
END_TEST

START_TEST(no_algorithm_is_refused)
{
    struct str unsigned_text = a_token(JWT_ALG_NONE, STR_EMPTY, GOOD);

    take_keys(rsa_key("r"), secret_key("h"));
    ck_assert(!web_keys_verify(keys, unsigned_text, STR_LITERAL("none"), STR_LITERAL("h")));
    ck_assert(!web_keys_verify(keys, unsigned_text, STR_LITERAL("HS256"), STR_LITERAL("h")));
    ck_assert(!web_token_is_one(unsigned_text));
}
END_TEST

START_TEST(two_keys_of_an_algorithm_need_an_id)
{
    take_keys(secret_key("g"), secret_key("h"));
    ck_assert(!web_keys_verify(
        keys, a_token(JWT_ALG_HS256, STR_LITERAL(SECRET), GOOD), STR_LITERAL("HS256"), STR_EMPTY));
}
END_TEST

/* ---- claims ---- */

static bool read_claims(const char *claims, struct credential *out)
{
    const struct web_token_rules rules = { STR_LITERAL("i"), STR_LITERAL("a") };
    int64_t now;

    ck_assert(ticks_from_timestamp(NOW, 0, &now));
    return web_token_read(a_text("{}", claims), &rules, now, &arena, out);
}

START_TEST(claims_become_a_credential)
{
    struct credential credential;

    ck_assert(read_claims("{" GOOD ",\"nbf\":1800000001.9,\"iat\":1799999999}", &credential));
    ck_assert_int_eq(credential.kind, CREDENTIAL_BEARER);
    ck_assert(credential.opens_account && str_equal(credential.account, STR_LITERAL("acme")));
    ck_assert_int_eq(credential.expiry - credential.start, 599 * TICKS_PER_SECOND);
    ck_assert(
        read_claims("{\"iss\":\"i\",\"aud\":[\"x\",\"a\"],\"exp\":1800000600,\"tavola_account\":\"acme\","
                    "\"tavola_permissions\":\"rt\",\"tavola_table\":\"People\",\"tavola_partition\":\"p\"}",
            &credential));
    ck_assert(!credential.opens_account && str_equal(credential.table, STR_LITERAL("people")));
    ck_assert_uint_eq(credential.permissions, PERMISSION_READ | PERMISSION_TRANSACT);
    ck_assert(
        key_range_contains(&credential.range, &(struct entity_key){ STR_LITERAL("p"), STR_LITERAL("r") }));
    ck_assert(
        !key_range_contains(&credential.range, &(struct entity_key){ STR_LITERAL("q"), STR_LITERAL("") }));
}
END_TEST

START_TEST(claims_that_are_refused)
{
    static const char *const refused[] = {
        "{}",
        "[]",
        "{" GOOD ",\"exp\":1}",
        "{" GOOD ",\"nbf\":\"1800000000\"}",
        "{" GOOD ",\"nbf\":1800000600}",
        "{" GOOD ",\"iat\":-1}",
        "{" GOOD ",\"tavola_table\":\"People\"}",
        "{" GOOD ",\"tavola_table\":\"\"}",
        "{" GOOD ",\"tavola_partition\":\"p\"}",
        "{\"iss\":\"i\",\"aud\":\"a\",\"exp\":1800086401,\"tavola_account\":\"acme\",\"tavola_permissions\":"
        "\"*\"}",
        "{\"iss\":\"i\",\"aud\":\"a\",\"exp\":1e300,\"tavola_account\":\"acme\",\"tavola_permissions\":\"*"
        "\"}",
        "{\"iss\":\"i\",\"aud\":\"a\",\"exp\":1800000600,\"tavola_account\":\"Acme\",\"tavola_permissions\":"
        "\"*\"}",
        "{\"iss\":\"i\",\"aud\":\"a\",\"exp\":1800000600,\"tavola_account\":\"acme\",\"tavola_permissions\":"
        "\"ri\"}",
        "{\"iss\":\"i\",\"aud\":\"a\",\"exp\":1800000600,\"tavola_account\":\"acme\",\"tavola_permissions\":"
        "\"\"}",
        "{\"iss\":\"j\",\"aud\":\"a\",\"exp\":1800000600,\"tavola_account\":\"acme\",\"tavola_permissions\":"
        "\"*\"}",
        "{\"iss\":\"i\",\"aud\":[1],\"exp\":1800000600,\"tavola_account\":\"acme\",\"tavola_permissions\":\"*"
        "\"}",
    };
    struct credential ignored;

    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        ck_assert_msg(!read_claims(refused[i], &ignored), "%s", refused[i]);
}
END_TEST

START_TEST(headers)
{
    struct web_token_header header;

    ck_assert(web_token_read_header(a_text("{\"alg\":\"RS256\",\"kid\":\"k\"}", "{}"), &arena, &header));
    ck_assert(
        str_equal(header.algorithm, STR_LITERAL("RS256")) && str_equal(header.key_id, STR_LITERAL("k")));
    ck_assert(!web_token_read_header(a_text("{\"alg\":\"RS256\",\"crit\":[]}", "{}"), &arena, &header));
    ck_assert(!web_token_read_header(a_text("{\"alg\":\"RS256\",\"alg\":\"none\"}", "{}"), &arena, &header));
    ck_assert(!web_token_read_header(a_text("{\"kid\":\"k\"}", "{}"), &arena, &header));
    ck_assert(!web_token_read_header(STR_LITERAL("e30.e30"), &arena, &header));
    ck_assert(!web_token_is_one(STR_LITERAL("e30.e30.e+0")));
    ck_assert(!web_token_is_one(STR_LITERAL("e30.e30.e30.")));
}
END_TEST

Suite *test_web_token_suite(void)
{
    Suite *suite = suite_create("web_token");
    TCase *tc = tcase_create("web_token");

    tcase_set_timeout(tc, 60);
    tcase_add_unchecked_fixture(tc, make_key, free_key);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, each_key_verifies_its_own_algorithm);
    tcase_add_test(tc, a_public_key_is_never_a_secret);
    tcase_add_test(tc, no_algorithm_is_refused);
    tcase_add_test(tc, two_keys_of_an_algorithm_need_an_id);
    tcase_add_test(tc, claims_become_a_credential);
    tcase_add_test(tc, claims_that_are_refused);
    tcase_add_test(tc, headers);
    suite_add_tcase(suite, tc);
    return suite;
}
