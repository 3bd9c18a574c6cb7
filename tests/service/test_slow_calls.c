/* SPDX-License-Identifier: Apache-2.0 */
/* test_slow_calls.c - how many slow calls have a line in the log, and that the others are counted. */
#include <check.h>

#include "service/tracing/slow_calls.h"

enum { BURST = SLOW_CALLS_BURST_US / SLOW_CALLS_COST_US, NOW_US = 1000000000 };

static int lines_of(struct slow_calls_lines *lines, int calls, int64_t now_us, int64_t *left_out)
{
    int count = 0;
    int64_t before;

    for (int i = 0; i < calls; i++)
        if (slow_calls_draw_line(lines, now_us, &before)) {
            *left_out += before;
            count++;
        }
    return count;
}

START_TEST(an_overload_has_few_lines_and_every_call_is_counted)
{
    struct slow_calls_lines lines = { 0 };
    int64_t left_out = 0;

    ck_assert_int_eq(lines_of(&lines, 100000, NOW_US, &left_out), BURST);
    ck_assert_int_eq(left_out, 0);
    ck_assert_int_eq(lines_of(&lines, 100000, NOW_US + 10 * SLOW_CALLS_COST_US, &left_out), 10);
    ck_assert_int_eq(left_out, 100000 - BURST);
    ck_assert_int_eq(lines_of(&lines, 1, NOW_US + 2 * SLOW_CALLS_BURST_US, &left_out), 1);
    ck_assert_int_eq(left_out, 200000 - BURST - 10);
    ck_assert_int_eq(lines_of(&lines, 1, NOW_US + 2 * SLOW_CALLS_BURST_US, &left_out), 1);
    ck_assert_int_eq(left_out, 200000 - BURST - 10);
}
END_TEST

Suite *test_slow_calls_suite(void);

Suite *test_slow_calls_suite(void)
{
    Suite *suite = suite_create("slow_calls");
    TCase *tc = tcase_create("lines");

    tcase_add_test(tc, an_overload_has_few_lines_and_every_call_is_counted);
    suite_add_tcase(suite, tc);
    return suite;
}
