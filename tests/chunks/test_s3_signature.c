/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_s3_signature.c - the signatures of the examples in the documentation of Amazon S3 that sign the headers that we
 * sign ("Signature Calculations for the Authorization Header").
 */
#include "chunks/s3_signature.h"

#include <check.h>
#include <string.h>

#include "base/macros.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct s3_request make_example(const char *query)
{
    struct s3_request request = { .method = "GET",
        .host = "examplebucket.s3.amazonaws.com",
        .path = "/",
        .query = query,
        .region = "us-east-1",
        .access_key = STR_LITERAL("AKIAIOSFODNN7EXAMPLE"),
        .secret_key = STR_LITERAL("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        .time = "20130524T000000Z" };

    s3_signature_digest(STR_EMPTY, request.digest);
    return request;
}

START_TEST(the_examples_of_the_documentation_have_their_signatures)
{
    static const struct {
        const char *query, *signature;
    } examples[] = {
        { "lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543" },
        { "max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7" },
    };

    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        struct s3_request request = make_example(examples[i].query);
        const char *expected = arena_format(&arena,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=%s",
            examples[i].signature)
                                   .data;

        ck_assert_str_eq(s3_signature_make(&request, &arena), expected);
    }
}
END_TEST

/* The signature is that of an implementation in Python. */
START_TEST(a_session_token_is_signed_as_a_header)
{
    struct s3_request request = make_example("lifecycle=");
    const char *signature;

    request.session_token = STR_LITERAL("FwoGZXIvYXdzEXAMPLE/+=");
    signature = s3_signature_make(&request, &arena);
    ck_assert_ptr_nonnull(
        strstr(signature, "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"));
    ck_assert_ptr_nonnull(
        strstr(signature, "Signature=6571e2783ef09aa24a60bef7b89ab59bd879fa34828ccc1c65d46251091ec7a6"));
}
END_TEST

START_TEST(every_part_of_a_request_is_signed)
{
    struct s3_request request = make_example(""), changed[7];
    const char *signature = s3_signature_make(&request, &arena);

    for (size_t i = 0; i < ARRAY_LEN(changed); i++)
        changed[i] = request;
    changed[0].method = "PUT";
    changed[1].host = "other";
    changed[2].path = "/other";
    changed[3].region = "eu-west-1";
    changed[4].secret_key = STR_LITERAL("other");
    s3_signature_digest(STR_LITERAL("body"), changed[5].digest);
    changed[6].session_token = STR_LITERAL("token");
    for (size_t i = 0; i < ARRAY_LEN(changed); i++) {
        const char *other = s3_signature_make(&changed[i], &arena);

        ck_assert_str_ne(strstr(other, "Signature="), strstr(signature, "Signature="));
    }
    ck_assert_ptr_null(strstr(signature, "wJalr"));
}
END_TEST

Suite *test_s3_signature_suite(void)
{
    Suite *suite = suite_create("s3_signature");
    TCase *tc = tcase_create("s3_signature");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_examples_of_the_documentation_have_their_signatures);
    tcase_add_test(tc, a_session_token_is_signed_as_a_header);
    tcase_add_test(tc, every_part_of_a_request_is_signed);
    suite_add_tcase(suite, tc);
    return suite;
}
