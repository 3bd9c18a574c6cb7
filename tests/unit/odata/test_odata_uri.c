/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of odata/odata_uri.c.
 */
#include "odata/odata_uri.h"

#include <check.h>

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

static const struct decode_case {
    const char *in;
    enum odata_uri_part part;
    const char *out; /* NULL: refused */
} decode_cases[] = {
    { "", ODATA_URI_PATH, "" },
    { "abc", ODATA_URI_PATH, "abc" },
    { "a+b", ODATA_URI_PATH, "a+b" },
    { "a+b", ODATA_URI_QUERY, "a b" },
    { "a%2Bb%20c", ODATA_URI_QUERY, "a+b c" },
    { "%27%C3%A4%f0%9f%98%80", ODATA_URI_PATH, "'\xC3\xA4\xF0\x9F\x98\x80" },
    { "100%25", ODATA_URI_PATH, "100%" },
    { "%", ODATA_URI_PATH, NULL },
    { "a%2", ODATA_URI_PATH, NULL },
    { "%zz", ODATA_URI_QUERY, NULL },
    { "%C3", ODATA_URI_PATH, NULL },
    { "\xFF", ODATA_URI_PATH, NULL },
    { "%ED%A0%80", ODATA_URI_PATH, NULL },
};

START_TEST(text_is_decoded)
{
    const struct decode_case *c = &decode_cases[_i];
    struct str out = STR_EMPTY;

    ck_assert_int_eq(odata_uri_decode(str_of(c->in), c->part, &arena, &out), c->out != NULL);
    ck_assert_str_eq(arena_copy(&arena, out).data, c->out ? c->out : "");
}
END_TEST

START_TEST(keys_are_encoded_as_they_stand_in_a_url)
{
    struct buf out;

    buf_init(&out, &arena);

    odata_uri_encode_key(STR_LITERAL("O'Neil 50% \xC3\xA4+-._~''"), &out);

    buf_append_byte(&out, '\0');
    ck_assert_str_eq(out.data, "O''Neil%2050%25%20%C3%A4%2B-._~''''");
}
END_TEST

START_TEST(parameters_are_taken_one_by_one)
{
    struct str query = STR_LITERAL("&a=1&&b&c=x=y&"), name, value;

    ck_assert(odata_uri_take_parameter(&query, &name, &value));
    ck_assert(str_equal(name, STR_LITERAL("a")) && str_equal(value, STR_LITERAL("1")));
    ck_assert(odata_uri_take_parameter(&query, &name, &value));
    ck_assert(str_equal(name, STR_LITERAL("b")) && value.len == 0);
    ck_assert(odata_uri_take_parameter(&query, &name, &value));
    ck_assert(str_equal(name, STR_LITERAL("c")) && str_equal(value, STR_LITERAL("x=y")));
    ck_assert(!odata_uri_take_parameter(&query, &name, &value));
}
END_TEST

Suite *test_odata_uri_suite(void)
{
    Suite *suite = suite_create("odata_uri");
    TCase *tc = tcase_create("odata_uri");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, text_is_decoded, 0, ARRAY_LEN(decode_cases));
    tcase_add_test(tc, keys_are_encoded_as_they_stand_in_a_url);
    tcase_add_test(tc, parameters_are_taken_one_by_one);
    suite_add_tcase(suite, tc);
    return suite;
}
