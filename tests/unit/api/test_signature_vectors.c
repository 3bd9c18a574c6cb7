/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_signature_vectors.c - tests/vectors/signatures.json: the tests of every client read the file and make the same credentials of
 * it; this test shows that they are those that servers accept.
 */
#include <check.h>
#include <jansson.h>
#include <string.h>

#include "domain/access/credential.h"
#include "domain/catalogue/table_name.h"
#include "domain/ticks.h"
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

/* "" where the vector does not have the member. */
static struct str text_of(const json_t *vector, const char *member)
{
    const char *text = json_string_value(json_object_get(vector, member));

    return str_of(text ? text : "");
}

static bool has(const json_t *vector, const char *member)
{
    return json_object_get(vector, member) != NULL;
}

/* Milliseconds since 1970, as ticks; 0: not given. */
static int64_t ticks_of(const json_t *vector, const char *member)
{
    return has(vector, member)
               ? ticks_from_unix_us(json_integer_value(json_object_get(vector, member)) * 1000)
               : 0;
}

static struct key_range range_of(const json_t *vector)
{
    return (struct key_range){
        .has_low = has(vector, "start_partition"),
        .low = { text_of(vector, "start_partition"), text_of(vector, "start_row") },
        .has_high = has(vector, "end_partition"),
        .high_has_row = has(vector, "end_row"),
        .high = { text_of(vector, "end_partition"), text_of(vector, "end_row") },
    };
}

/* What a text cannot say at all is refused where the text is read: permissions, addresses, a start row on its own. */
static bool read_vector(const json_t *vector, struct credential *out)
{
    *out = (struct credential){
        .kind = str_equal(text_of(vector, "kind"), STR_LITERAL("token")) ? CREDENTIAL_TOKEN
                                                                         : CREDENTIAL_SIGNATURE,
        .account = text_of(vector, "account"),
        .issued = ticks_of(vector, "issued"),
        .start = ticks_of(vector, "start"),
        .expiry = ticks_of(vector, "expiry"),
        .table = table_name_fold(text_of(vector, "table"), &arena),
        .policy = text_of(vector, "policy"),
        .has_source = has(vector, "source"),
        .range = range_of(vector),
        .tls_only = str_equal(text_of(vector, "protocol"), STR_LITERAL("tls")),
    };
    return access_parse_permissions(text_of(vector, "permissions"), &out->permissions) &&
           (!out->has_source || network_range_parse(text_of(vector, "source"), &out->source)) &&
           (!has(vector, "start_row") || out->range.has_low) && has(vector, "protocol") == out->tls_only;
}

/* false: a signer refuses the vector. */
static bool sign_vector(const json_t *vector, struct str *out)
{
    struct credential credential;
    struct account_key key;

    if (!read_vector(vector, &credential) || credential_check(&credential, NULL) != STATUS_OK ||
        !account_key_parse(text_of(vector, "key"), &arena, &key))
        return false;
    *out = credential_sign(&credential, &key, &arena);
    return true;
}

START_TEST(each_vector_is_signed_as_the_file_says)
{
    json_t *vector;
    size_t i;

    json_array_foreach(json_object_get(vectors, "credentials"), i, vector)
    {
        struct str name = text_of(vector, "name"), want = text_of(vector, "text"), text;
        struct credential read;

        ck_assert_msg(sign_vector(vector, &text), "%.*s: refused", STR_ARG(name));
        ck_assert_msg(str_equal(text, want), "%.*s: %.*s", STR_ARG(name), STR_ARG(text));
        ck_assert_msg(credential_parse(text, &arena, &read), "%.*s: not read", STR_ARG(name));
        require_bytes(read.fields, text_of(vector, "signed").data);
    }
    ck_assert_uint_ge(i, 20);
}
END_TEST

START_TEST(each_refused_vector_is_refused)
{
    json_t *vector;
    size_t i;

    json_array_foreach(json_object_get(vectors, "refused"), i, vector)
    {
        struct str text;

        ck_assert_msg(!sign_vector(vector, &text), "%.*s: signed", STR_ARG(text_of(vector, "name")));
    }
    ck_assert_uint_ge(i, 20);
}
END_TEST

Suite *test_signature_vectors_suite(void);

Suite *test_signature_vectors_suite(void)
{
    Suite *suite = suite_create("signature_vectors");
    TCase *tc = tcase_create("vectors");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, each_vector_is_signed_as_the_file_says);
    tcase_add_test(tc, each_refused_vector_is_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
