/* SPDX-License-Identifier: Apache-2.0 */
/* test_slowest_calls.c - which slow calls are remembered, how long, and that their number is bounded. */
#include <check.h>
#include <stdio.h>

#include "service/tracing/slowest_calls.h"

enum { NOW_US = 1000000000 };

static struct slowest_calls calls;
static struct slowest_calls_group groups[SLOWEST_CALLS_MAX];
static const char query_path[] = "/tavola.v1.EntityService/QueryEntities", count_path[] = "/t/Count";

static void setup(void)
{
    slowest_calls_init(&calls);
}

static void teardown(void)
{
    slowest_calls_cleanup(&calls);
}

static void note(const char *path, const char *table, int64_t duration_us, int64_t now_us)
{
    const struct call_end end = { .path = path, .account = str_of("acme#17") };
    const struct call_parts parts = { .duration_us = duration_us,
        .table = str_of(table),
        .path = ACCESS_TABLE_SCAN,
        .queue_us = 7,
        .rows_examined = duration_us / 1000 };

    slowest_calls_note(&calls, &end, &parts, now_us);
}

START_TEST(calls_of_one_shape_are_one_group_with_its_slowest)
{
    note(query_path, "people", 5000, NOW_US);
    note(query_path, "people", 9000, NOW_US + 1);
    note(query_path, "people", 1000, NOW_US + 2);
    note(count_path, "people", 6000, NOW_US + 3);
    note(query_path, "orders", 7000, NOW_US + 4);

    ck_assert_uint_eq(slowest_calls_read(&calls, NOW_US + 5, groups), 3);
    ck_assert_str_eq(groups[0].table, "people");
    ck_assert_str_eq(groups[0].account, "acme");
    ck_assert_int_eq(groups[0].calls, 3);
    ck_assert_int_eq(groups[0].total_us, 15000);
    ck_assert_int_eq(groups[0].slowest_us, 9000);
    ck_assert_int_eq(groups[0].rows_examined, 9);
    ck_assert_str_eq(groups[1].table, "orders");
    ck_assert_ptr_eq(groups[2].path, count_path);
}
END_TEST

START_TEST(quick_calls_are_not_counted)
{
    note(query_path, "people", SLOWEST_CALLS_FROM_US - 1, NOW_US);

    ck_assert_uint_eq(slowest_calls_read(&calls, NOW_US, groups), 0);
}
END_TEST

START_TEST(a_group_is_forgotten_after_ten_minutes_and_begins_anew)
{
    note(query_path, "people", 9000, NOW_US);
    ck_assert_uint_eq(slowest_calls_read(&calls, NOW_US + SLOWEST_CALLS_KEPT_US, groups), 1);
    ck_assert_uint_eq(slowest_calls_read(&calls, NOW_US + SLOWEST_CALLS_KEPT_US + 1, groups), 0);

    note(query_path, "people", 2000, NOW_US + SLOWEST_CALLS_KEPT_US + 2);

    ck_assert_uint_eq(slowest_calls_read(&calls, NOW_US + SLOWEST_CALLS_KEPT_US + 3, groups), 1);
    ck_assert_int_eq(groups[0].calls, 1);
    ck_assert_int_eq(groups[0].slowest_us, 2000);
}
END_TEST

START_TEST(the_slowest_stay_when_there_are_too_many)
{
    char name[16];

    for (int i = 1; i <= 3 * SLOWEST_CALLS_MAX; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        note(query_path, name, i * 1000, NOW_US);
    }
    note(query_path, "quicker", 1000, NOW_US);

    ck_assert_uint_eq(slowest_calls_read(&calls, NOW_US, groups), SLOWEST_CALLS_MAX);
    ck_assert_int_eq(groups[0].slowest_us, 3 * SLOWEST_CALLS_MAX * 1000);
    ck_assert_int_eq(groups[SLOWEST_CALLS_MAX - 1].slowest_us, (2 * SLOWEST_CALLS_MAX + 1) * 1000);
}
END_TEST

START_TEST(names_that_are_too_long_are_cut)
{
    char name[300];

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    note(query_path, name, 2000, NOW_US);
    note(query_path, name, 3000, NOW_US);

    ck_assert_uint_eq(slowest_calls_read(&calls, NOW_US, groups), 1);
    ck_assert_uint_eq(strlen(groups[0].table), SLOWEST_CALLS_NAME_BYTES - 1);
    ck_assert_int_eq(groups[0].calls, 2);
}
END_TEST

Suite *test_slowest_calls_suite(void);

Suite *test_slowest_calls_suite(void)
{
    Suite *suite = suite_create("slowest_calls");
    TCase *tc = tcase_create("groups");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, calls_of_one_shape_are_one_group_with_its_slowest);
    tcase_add_test(tc, quick_calls_are_not_counted);
    tcase_add_test(tc, a_group_is_forgotten_after_ten_minutes_and_begins_anew);
    tcase_add_test(tc, the_slowest_stay_when_there_are_too_many);
    tcase_add_test(tc, names_that_are_too_long_are_cut);
    suite_add_tcase(suite, tc);
    return suite;
}
