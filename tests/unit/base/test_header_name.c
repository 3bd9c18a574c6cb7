/* SPDX-License-Identifier: Apache-2.0 */
/* test_header_name.c - which texts may be names of headers. */
#include <check.h>

#include "base/header_name.h"
#include "base/macros.h"

static const struct row {
    struct str name;
    bool is_valid;
} rows[] = {
    { STR_LITERAL("Content-Length"), true },
    { STR_LITERAL("x_1.2~!#$%&'*+^`|"), true },
    { STR_LITERAL(""), false },
    { STR_LITERAL("Content-Length "), false },
    { STR_LITERAL("a\tb"), false },
    { STR_LITERAL("a(1)"), false },
    { STR_LITERAL("a:b"), false },
    { STR_LITERAL("a\0b"), false },
    { STR_LITERAL("\xc3\xa9"), false },
    { STR_LITERAL("a\x7f"), false },
};

START_TEST(a_name_is_a_token)
{
    ck_assert_msg(header_name_is_valid(rows[_i].name) == rows[_i].is_valid, "row %d", _i);
}
END_TEST

Suite *test_header_name_suite(void);
Suite *test_header_name_suite(void)
{
    Suite *suite = suite_create("header_name");
    TCase *tc = tcase_create("names");

    tcase_add_loop_test(tc, a_name_is_a_token, 0, ARRAY_LEN(rows));
    suite_add_tcase(suite, tc);
    return suite;
}
