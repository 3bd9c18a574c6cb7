/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/sampling/time_key.c.
 */
#include "domain/sampling/time_key.h"

#include <check.h>

#include "base/macros.h"

static const struct time_case {
    const char *key;
    bool want;
} time_cases[] = {
    { "2026-11-22", true },
    { "2026-11", true },
    { "20261122", true },
    { "2026-11-22T15:30:00Z", true },
    { "20261122T153000", true },
    { "sensor-7_2026-11-22", true },
    { "v2 20261122", true },
    { "1795361400", true },          /* seconds */
    { "1795361400123", true },       /* milliseconds */
    { "639300000000000000", true },  /* ticks */
    { "2516000000000000000", true }, /* ticks down from the last */
    { "", false },
    { "2026", false },
    { "2026-13", false },
    { "20261322", false },
    { "20261132", false },
    { "1826-11-22", false },
    { "12345", false },
    { "00000042", false },
    { "sales", false },
    { "1795361400x", false },
    { "r2", false },
};

START_TEST(a_time_is_seen)
{
    const struct time_case *c = &time_cases[_i];

    ck_assert_msg(time_key_looks_like(str_of(c->key)) == c->want, "%s", c->key);
}
END_TEST

Suite *test_time_key_suite(void)
{
    Suite *suite = suite_create("time_key");
    TCase *tc = tcase_create("time_key");

    tcase_add_loop_test(tc, a_time_is_seen, 0, ARRAY_LEN(time_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
