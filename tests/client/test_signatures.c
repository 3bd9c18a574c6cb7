/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_signatures.c - tests/vectors/signatures.json: the tests of every client read the file and make the same
 * credentials of it. This one makes them with libtavola, and reads them as servers do.
 */
#include <check.h>
#include <jansson.h>
#include <string.h>

#include "client/lib/tavola.h"
#include "domain/access/credential.h"
#include "tests/support/golden.h"

static struct arena arena;
static json_t *vectors;

static void setup(void)
{
    json_error_t error;

    arena_init(&arena);
    vectors = json_load_file(VECTORS_FOLDER "/signatures.json", 0, &error);
    ck_assert_msg(vectors != NULL, "line %d: %s", error.line, error.text);
}

static void teardown(void)
{
    json_decref(vectors);
    arena_cleanup(&arena);
}

/* NULL where the vector does not have the member. */
static const char *text_of(const json_t *vector, const char *member)
{
    return json_string_value(json_object_get(vector, member));
}

static int64_t number_of(const json_t *vector, const char *member)
{
    return json_integer_value(json_object_get(vector, member));
}

static enum tavola_code sign_vector(const json_t *vector, char **out, struct tavola_error *error)
{
    const char *protocol = text_of(vector, "protocol");
    const struct tavola_signature signature = {
        .account = text_of(vector, "account"),
        .account_key = text_of(vector, "key"),
        .issued_ms = number_of(vector, "issued"),
        .start_ms = number_of(vector, "start"),
        .expiry_ms = number_of(vector, "expiry"),
        .table = text_of(vector, "table"),
        .permissions = text_of(vector, "permissions"),
        .policy = text_of(vector, "policy"),
        .source = text_of(vector, "source"),
        .tls_only = protocol && strcmp(protocol, "tls") == 0,
        .start_partition = text_of(vector, "start_partition"),
        .start_row = text_of(vector, "start_row"),
        .end_partition = text_of(vector, "end_partition"),
        .end_row = text_of(vector, "end_row"),
    };

    /* A protocol that there is not cannot be said in C. */
    if (protocol && !signature.tls_only)
        return TAVOLA_INVALID_ARGUMENT;
    return tavola_sign(&signature, out, error);
}

START_TEST(each_vector_is_signed_as_the_file_says)
{
    json_t *vector;
    size_t i;

    json_array_foreach(json_object_get(vectors, "credentials"), i, vector)
    {
        const char *name = text_of(vector, "name");
        struct tavola_error error = { 0 };
        struct credential read;
        char *text = NULL;

        ck_assert_msg(sign_vector(vector, &text, &error) == TAVOLA_OK, "%s: %s", name, error.message);
        ck_assert_msg(strcmp(text, text_of(vector, "text")) == 0, "%s: %s", name, text);
        ck_assert_msg(credential_parse(str_of(text), &arena, &read), "%s: not read", name);
        require_bytes(read.fields, text_of(vector, "signed"));
        tavola_free(text);
    }
    ck_assert_uint_ge(i, 20);
}
END_TEST

START_TEST(each_refused_vector_is_refused_with_a_message)
{
    json_t *vector;
    size_t i;

    json_array_foreach(json_object_get(vectors, "refused"), i, vector)
    {
        struct tavola_error error = { .message = "-" };
        char *text = NULL;

        ck_assert_msg(sign_vector(vector, &text, &error) != TAVOLA_OK, "%s: signed", text_of(vector, "name"));
        ck_assert_ptr_null(text);
        ck_assert_str_ne(error.message, "");
    }
    ck_assert_uint_ge(i, 20);
}
END_TEST

Suite *test_signatures_suite(void);

Suite *test_signatures_suite(void)
{
    Suite *suite = suite_create("signatures");
    TCase *tc = tcase_create("vectors");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, each_vector_is_signed_as_the_file_says);
    tcase_add_test(tc, each_refused_vector_is_refused_with_a_message);
    suite_add_tcase(suite, tc);
    return suite;
}
