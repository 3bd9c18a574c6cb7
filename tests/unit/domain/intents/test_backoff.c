/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_backoff.c - pauses double up to their bound, and jitter stays in the upper half.
 */
#include <check.h>

#include "base/macros.h"
#include "domain/intents/backoff.h"

static const struct backoff backoff = { .first = 100, .longest = 2000 };

static const struct backoff_case {
    int32_t failures;
    uint64_t random;
    int64_t want;
} cases[] = {
    { 1, 0, 50 },
    { 1, 50, 100 },
    { 1, 51, 50 }, /* past the end of the range it begins again */
    { 2, 0, 100 },
    { 2, 100, 200 },
    { 5, 800, 1600 },
    { 6, 0, 1000 },
    { 6, 1000, 2000 },
    { INT32_MAX, 1000, 2000 },
    { 3, UINT64_MAX, 200 + (int64_t)(UINT64_MAX % 201) },
};

START_TEST(a_pause_doubles_with_jitter_up_to_its_bound)
{
    const struct backoff_case *c = &cases[_i];

    ck_assert_int_eq(backoff_pause(&backoff, c->failures, c->random), c->want);
}
END_TEST

Suite *test_backoff_suite(void)
{
    Suite *suite = suite_create("backoff");
    TCase *tc = tcase_create("backoff");

    tcase_add_loop_test(tc, a_pause_doubles_with_jitter_up_to_its_bound, 0, ARRAY_LEN(cases));
    suite_add_tcase(suite, tc);
    return suite;
}
