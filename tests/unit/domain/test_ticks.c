/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/ticks.c.
 */
#include "domain/ticks.h"

#include <check.h>

#include "base/macros.h"

#define FIRST INT64_C(-11644473600)
#define LAST INT64_C(253402300799)
#define UNIX_EPOCH INT64_C(116444736000000000)

static const struct exact_case {
    const char *name;
    int64_t seconds;
    int32_t nanos;
    int64_t ticks;
} exact_cases[] = {
    { "1601-01-01T00:00:00Z", FIRST, 0, 0 },
    { "one tick later", FIRST, 100, 1 },
    { "1970-01-01T00:00:00Z", 0, 0, UNIX_EPOCH },
    { "a tick before 1970: nanos count forward", -1, 999999900, UNIX_EPOCH - 1 },
    { "half a second before 1970", -1, 500000000, UNIX_EPOCH - 5000000 },
    { "9999-12-31T23:59:59.9999999Z", LAST, 999999900, TICKS_MAX },
};

START_TEST(a_timestamp_goes_there_and_back)
{
    const struct exact_case *c = &exact_cases[_i];
    int64_t ticks = -1, seconds = -1;
    int32_t nanos = -1;

    ck_assert_msg(ticks_from_timestamp(c->seconds, c->nanos, &ticks), "%s", c->name);
    ck_assert_msg(ticks == c->ticks, "%s: %lld", c->name, (long long)ticks);
    ticks_to_timestamp(ticks, &seconds, &nanos);
    ck_assert_msg(seconds == c->seconds && nanos == c->nanos, "%s", c->name);
}
END_TEST

START_TEST(finer_than_a_tick_is_truncated_towards_the_past)
{
    int64_t ticks;

    ck_assert(ticks_from_timestamp(0, 199, &ticks));
    ck_assert_int_eq(ticks, UNIX_EPOCH + 1);
    ck_assert(ticks_from_timestamp(-1, 999999999, &ticks));
    ck_assert_int_eq(ticks, UNIX_EPOCH - 1);
    ck_assert(ticks_from_timestamp(LAST, 999999999, &ticks));
    ck_assert_int_eq(ticks, TICKS_MAX);
}
END_TEST

static const struct outside_case {
    const char *name;
    int64_t seconds;
    int32_t nanos;
} outside_cases[] = {
    { "the nanosecond before 1601", FIRST - 1, 999999999 },
    { "the year 10000", LAST + 1, 0 },
    { "negative nanos", 0, -1 },
    { "a second of nanos", 0, 1000000000 },
    { "the least second", INT64_MIN, 0 },
    { "the greatest second", INT64_MAX, 0 },
};

START_TEST(outside_the_range_is_refused)
{
    const struct outside_case *c = &outside_cases[_i];
    int64_t ticks = 7;

    ck_assert_msg(!ticks_from_timestamp(c->seconds, c->nanos, &ticks), "%s", c->name);
    ck_assert_int_eq(ticks, 7);
}
END_TEST

START_TEST(microseconds_of_the_database_become_ticks)
{
    ck_assert_int_eq(ticks_from_unix_us(0), UNIX_EPOCH);
    ck_assert_int_eq(ticks_from_unix_us(1), UNIX_EPOCH + 10);
    ck_assert_int_eq(ticks_from_unix_us(-1), UNIX_EPOCH - 10);
}
END_TEST

Suite *test_ticks_suite(void)
{
    Suite *suite = suite_create("ticks");
    TCase *tc = tcase_create("ticks");

    tcase_add_loop_test(tc, a_timestamp_goes_there_and_back, 0, ARRAY_LEN(exact_cases));
    tcase_add_test(tc, finer_than_a_tick_is_truncated_towards_the_past);
    tcase_add_loop_test(tc, outside_the_range_is_refused, 0, ARRAY_LEN(outside_cases));
    tcase_add_test(tc, microseconds_of_the_database_become_ticks);
    suite_add_tcase(suite, tc);
    return suite;
}
