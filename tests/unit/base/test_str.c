/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/str.h: trimming, and equality without regard to case.
 */
#include "base/str.h"

#include <check.h>

#include "base/macros.h"

static const struct trim_case {
    struct str text;
    const char *bytes, *want;
} trim_cases[] = {
    { STR_LITERAL(""), " ", "" },
    { STR_LITERAL("   "), " ", "" },
    { STR_LITERAL("a b"), " ", "a b" },
    { STR_LITERAL("  a b "), " ", "a b" },
    { STR_LITERAL("\t a \t"), " ", "\t a \t" },
    { STR_LITERAL("\t a \t"), " \t", "a" },
    { STR_LITERAL("\r\nx\n"), " \t\r\n", "x" },
};

START_TEST(a_text_is_trimmed_at_both_ends)
{
    const struct trim_case *c = &trim_cases[_i];

    ck_assert(str_equal(str_trim(c->text, c->bytes), str_of(c->want)));
}
END_TEST

START_TEST(a_nul_is_no_blank)
{
    ck_assert_uint_eq(str_trim(str_of_bytes("\0a\0", 3), " ").len, 3);
}
END_TEST

static const struct equal_case {
    const char *a, *b;
    bool want;
} equal_cases[] = {
    { "", "", true },
    { "Content-Type", "content-TYPE", true },
    { "host", "hosts", false },
    { "a", "", false },
    { "\xc3\xa4", "\xc3\x84", false },
};

START_TEST(ascii_letters_are_equal_in_any_case)
{
    const struct equal_case *c = &equal_cases[_i];

    ck_assert_int_eq(str_equal_any_case(str_of(c->a), str_of(c->b)), c->want);
}
END_TEST

Suite *test_str_suite(void)
{
    Suite *suite = suite_create("str");
    TCase *tc = tcase_create("str");

    tcase_add_loop_test(tc, a_text_is_trimmed_at_both_ends, 0, ARRAY_LEN(trim_cases));
    tcase_add_test(tc, a_nul_is_no_blank);
    tcase_add_loop_test(tc, ascii_letters_are_equal_in_any_case, 0, ARRAY_LEN(equal_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
