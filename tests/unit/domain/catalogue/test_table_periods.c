/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/catalogue/table_periods.c: names of periods and back, the calendar, and which tables are past.
 */
#include "domain/catalogue/table_periods.h"

#include <check.h>

#include "base/macros.h"
#include "domain/ticks.h"

#define HOUR (3600 * TICKS_PER_SECOND)
#define UNIX_EPOCH (INT64_C(11644473600) * TICKS_PER_SECOND)

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static int64_t at(int64_t unix_s)
{
    return UNIX_EPOCH + unix_s * TICKS_PER_SECOND;
}

static const char *name_at(enum period_unit unit, int64_t ticks)
{
    return table_periods_name(unit, STR_LITERAL("logins"), table_periods_at(unit, ticks), &arena).data;
}

static const struct name_case {
    int64_t unix_s;
    const char *hour, *day, *month, *year;
} name_cases[] = {
    { 0, "logins1970010100", "logins19700101", "logins197001", "logins1970" },
    { -1, "logins1969123123", "logins19691231", "logins196912", "logins1969" },
    { 951782400 + 86399, "logins2000022923", "logins20000229", "logins200002", "logins2000" },
    { 951782400 + 86400, "logins2000030100", "logins20000301", "logins200003", "logins2000" },
    { 1795410000, "logins2026112305", "logins20261123", "logins202611", "logins2026" },
    { 4107542400 - 1, "logins2100022823", "logins21000228", "logins210002", "logins2100" },
    { 4107542400, "logins2100030100", "logins21000301", "logins210003", "logins2100" },
    { -11644473600, "logins1601010100", "logins16010101", "logins160101", "logins1601" },
};

START_TEST(a_period_has_the_name_of_its_time)
{
    const struct name_case *c = &name_cases[_i];

    ck_assert_str_eq(name_at(PERIOD_HOUR, at(c->unix_s)), c->hour);
    ck_assert_str_eq(name_at(PERIOD_DAY, at(c->unix_s)), c->day);
    ck_assert_str_eq(name_at(PERIOD_MONTH, at(c->unix_s)), c->month);
    ck_assert_str_eq(name_at(PERIOD_YEAR, at(c->unix_s)), c->year);
}
END_TEST

/* 400 years: every day, and so every month and year. */
START_TEST(names_are_read_back_and_have_the_order_of_periods)
{
    struct str before = STR_EMPTY;

    for (int64_t day = 0; day < 146097 + 400; day++) {
        struct str name = table_periods_name(PERIOD_DAY, STR_LITERAL("a"), day, &arena);
        int64_t period;

        /* A ck_assert that holds writes to a file: too slow for each day. */
        if (str_compare(before, name) >= 0)
            ck_abort_msg("%s is not behind %s", name.data, before.data);
        if (!table_periods_parse(PERIOD_DAY, STR_LITERAL("a"), name, &period) || period != day)
            ck_abort_msg("%s is not read back", name.data);
        before = name;
    }
    for (enum period_unit unit = PERIOD_HOUR; unit < PERIOD_UNIT_END; unit++) {
        int64_t now = table_periods_at(unit, at(1795410000)), period;
        struct str name = table_periods_name(unit, STR_LITERAL("a"), now, &arena);

        ck_assert(table_periods_parse(unit, STR_LITERAL("a"), name, &period));
        ck_assert_int_eq(period, now);
    }
}
END_TEST

static const struct other_case {
    enum period_unit unit;
    const char *name;
} other_cases[] = {
    { PERIOD_MONTH, "logins" },
    { PERIOD_MONTH, "logins2026" },
    { PERIOD_MONTH, "logins20261123" },
    { PERIOD_MONTH, "logins202613" },
    { PERIOD_MONTH, "logins202600" },
    { PERIOD_MONTH, "logins150012" },
    { PERIOD_MONTH, "loginsabcdef" },
    { PERIOD_MONTH, "logouts202611" },
    { PERIOD_DAY, "logins20260229" },
    { PERIOD_DAY, "logins20260431" },
    { PERIOD_DAY, "logins20260400" },
    { PERIOD_HOUR, "logins2026112324" },
    { PERIOD_YEAR, "logins1600" },
    { PERIOD_YEAR, "logins20 6" },
    { PERIOD_YEAR, "logins+202" },
};

START_TEST(other_names_are_no_periods)
{
    const struct other_case *c = &other_cases[_i];
    int64_t period = -1;

    ck_assert_msg(
        !table_periods_parse(c->unit, STR_LITERAL("logins"), str_of(c->name), &period), "%s", c->name);
    ck_assert_int_eq(period, -1);
}
END_TEST

START_TEST(a_table_is_past_an_hour_after_its_last_time_by_both_clocks)
{
    const struct table_periods rule = { .unit = PERIOD_DAY, .ahead = 1, .kept = 2 };
    int64_t midnight = at(1795392000), today = table_periods_at(PERIOD_DAY, midnight);

    ck_assert_int_eq(table_periods_first_kept(&rule, midnight + HOUR, midnight + HOUR), today - 2);
    ck_assert_int_eq(table_periods_first_kept(&rule, midnight + HOUR - 1, midnight + HOUR), today - 3);
    ck_assert_int_eq(table_periods_first_kept(&rule, midnight + HOUR, midnight + HOUR - 1), today - 3);
    /* One of the clocks is ahead by a year. */
    ck_assert_int_eq(table_periods_first_kept(&rule, midnight + 365 * 24 * HOUR, midnight + HOUR), today - 2);
    ck_assert_int_eq(table_periods_first_kept(&rule, midnight + HOUR, midnight + 365 * 24 * HOUR), today - 2);
    ck_assert_int_lt(table_periods_first_kept(&rule, 0, midnight), 0);
}
END_TEST

static const struct rule_case {
    const char *why, *name;
    struct table_periods rule;
    enum status want;
} rule_cases[] = {
    { "a rule", "logins", { PERIOD_MONTH, 1, 12 }, STATUS_OK },
    { "the largest numbers", "logins", { PERIOD_HOUR, MAX_PERIODS_AHEAD, MAX_PERIODS_KEPT }, STATUS_OK },
    { "no unit", "logins", { PERIOD_NONE, 1, 1 }, STATUS_INVALID },
    { "an unknown unit", "logins", { PERIOD_UNIT_END, 1, 1 }, STATUS_INVALID },
    { "nothing ahead", "logins", { PERIOD_DAY, 0, 1 }, STATUS_INVALID },
    { "too many ahead", "logins", { PERIOD_DAY, MAX_PERIODS_AHEAD + 1, 1 }, STATUS_INVALID },
    { "nothing kept", "logins", { PERIOD_DAY, 1, 0 }, STATUS_INVALID },
    { "too many kept", "logins", { PERIOD_DAY, 1, MAX_PERIODS_KEPT + 1 }, STATUS_INVALID },
    { "a digit at the end", "logins2", { PERIOD_DAY, 1, 1 }, STATUS_INVALID },
    { "the longest name", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefg",
        { PERIOD_YEAR, 1, 1 }, STATUS_OK },
    { "a longer one", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh", { PERIOD_YEAR, 1, 1 },
        STATUS_INVALID },
};

START_TEST(rules_are_accepted_and_refused)
{
    const struct rule_case *c = &rule_cases[_i];
    struct error err = { 0 };

    enum status got = table_periods_check(&c->rule, str_of(c->name), &err);

    ck_assert_msg(got == c->want, "%s: got %s (%s)", c->why, status_name(got), err.message);
    if (c->want != STATUS_OK)
        ck_assert_str_eq(err.reason, "INVALID_INPUT");
}
END_TEST

Suite *test_table_periods_suite(void)
{
    Suite *suite = suite_create("table_periods");
    TCase *tc = tcase_create("table_periods");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_period_has_the_name_of_its_time, 0, ARRAY_LEN(name_cases));
    tcase_add_test(tc, names_are_read_back_and_have_the_order_of_periods);
    tcase_add_loop_test(tc, other_names_are_no_periods, 0, ARRAY_LEN(other_cases));
    tcase_add_test(tc, a_table_is_past_an_hour_after_its_last_time_by_both_clocks);
    tcase_add_loop_test(tc, rules_are_accepted_and_refused, 0, ARRAY_LEN(rule_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
