/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/catalogue/table_name.c.
 */
#include "domain/catalogue/table_name.h"

#include <check.h>

#define SIXTY "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"

static const struct name_case {
    const char *name;
    struct str text;
    enum status want;
    const char *reason;
} name_cases[] = {
    { "three characters", STR_LITERAL("abc"), STATUS_OK, NULL },
    { "63 characters", STR_LITERAL(SIXTY "123"), STATUS_OK, NULL },
    { "digits behind a letter", STR_LITERAL("T00"), STATUS_OK, NULL },
    { "any case", STR_LITERAL("CustoMers2"), STATUS_OK, NULL },
    { "longer than the reserved name", STR_LITERAL("tables1"), STATUS_OK, NULL },
    { "empty", STR_LITERAL(""), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT" },
    { "two characters", STR_LITERAL("ab"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT" },
    { "64 characters", STR_LITERAL(SIXTY "1234"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT" },
    { "two characters in four bytes", STR_LITERAL("\xC3\xA4\xC3\xA4"), STATUS_OUT_OF_RANGE,
        "OUT_OF_RANGE_INPUT" },
    { "a leading digit", STR_LITERAL("1abc"), STATUS_INVALID, "INVALID_RESOURCE_NAME" },
    { "an underscore", STR_LITERAL("a_c"), STATUS_INVALID, "INVALID_RESOURCE_NAME" },
    { "a dollar", STR_LITERAL("$Metrics"), STATUS_INVALID, "INVALID_RESOURCE_NAME" },
    { "a space", STR_LITERAL("ab c"), STATUS_INVALID, "INVALID_RESOURCE_NAME" },
    { "a NUL", STR_LITERAL("ab\0c"), STATUS_INVALID, "INVALID_RESOURCE_NAME" },
    { "letters beyond ASCII",
        STR_LITERAL("\xC3\xA4"
                    "bcd"),
        STATUS_INVALID, "INVALID_RESOURCE_NAME" },
    { "not UTF-8",
        STR_LITERAL("ab\xFF"
                    "c"),
        STATUS_INVALID, "INVALID_RESOURCE_NAME" },
    { "the reserved name", STR_LITERAL("tables"), STATUS_INVALID, "INVALID_INPUT" },
    { "the reserved name in another case", STR_LITERAL("TaBLeS"), STATUS_INVALID, "INVALID_INPUT" },
};

START_TEST(names_are_accepted_and_refused)
{
    const struct name_case *c = &name_cases[_i];
    struct error err = { 0 };

    enum status got = table_name_check(c->text, &err);

    ck_assert_msg(got == c->want, "%s: got %s (%s)", c->name, status_name(got), err.message);
    if (c->reason)
        ck_assert_str_eq(err.reason, c->reason);
}
END_TEST

START_TEST(a_name_is_folded_to_lower_case)
{
    struct arena arena;

    arena_init(&arena);
    ck_assert_str_eq(table_name_fold(STR_LITERAL("AZaz09"), &arena).data, "azaz09");
    ck_assert_uint_eq(table_name_fold(STR_EMPTY, &arena).len, 0);
    arena_cleanup(&arena);
}
END_TEST

Suite *test_table_name_suite(void)
{
    Suite *suite = suite_create("table_name");
    TCase *tc = tcase_create("table_name");

    tcase_add_loop_test(tc, names_are_accepted_and_refused, 0, ARRAY_LEN(name_cases));
    tcase_add_test(tc, a_name_is_folded_to_lower_case);
    suite_add_tcase(suite, tc);
    return suite;
}
