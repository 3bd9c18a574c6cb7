/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_period_tables.c - tables of periods are made ahead and dropped when they are past, and nothing else is.
 */
#include "store/catalogue/period_tables.h"

#include <check.h>

#include "base/clock.h"
#include "tests/support/calls.h"
#include "tests/support/worker_world.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

static void rule(const char *table, enum period_unit unit, int ahead, int kept)
{
    test_sql(world.sql,
        "update tables set period = %d, periods_ahead = %d, periods_kept = %d where name = '%s'", unit, ahead,
        kept, table);
}

static void table_made(int id, const char *account, const char *name)
{
    world_change(&world,
        "insert into tables (table_id, account, name, folded, created, live) "
        "values (%d, '%s', '%s', lower('%s'), 1, true)",
        id, account, name, name);
}

static struct period_counts keep(struct worker *worker)
{
    struct period_counts counts = { 0 };
    struct error err = { 0 };

    ck_assert_msg(period_tables_keep(worker, &counts, &err) == STATUS_OK, "%s", err.message);
    return counts;
}

static long long live(const char *name)
{
    return test_number(world.sql, "select count(*) from tables where live and folded like lower('%s')", name);
}

/* The name of the table that many periods after the present. */
static const char *name_of(enum period_unit unit, int64_t periods)
{
    return table_periods_name(
        unit, STR_LITERAL("People"), table_periods_at(unit, clock_ticks()) + periods, &world.arena)
        .data;
}

START_TEST(the_present_and_the_coming_tables_are_made_once)
{
    rule("People", PERIOD_MONTH, 2, 1);

    struct period_counts first = keep(world.worker), second = keep(world.worker);

    ck_assert_int_eq(first.made, 3);
    ck_assert_int_eq(first.dropped + first.refused + second.made + second.dropped + second.refused, 0);
    for (int period = 0; period <= 2; period++)
        ck_assert_int_eq(live(name_of(PERIOD_MONTH, period)), 1);
    ck_assert_int_eq(live("people_%"), 3);
}
END_TEST

START_TEST(a_table_that_is_past_goes_and_all_others_stay)
{
    rule("People", PERIOD_YEAR, 1, 2);
    table_made(1001, "acme", name_of(PERIOD_YEAR, -4));
    table_made(1002, "acme", name_of(PERIOD_YEAR, -2));
    table_made(1003, "acme", name_of(PERIOD_YEAR, 7));
    table_made(1004, "acme", "People19990101");
    table_made(1005, "acme", "Peoples1999");
    table_made(1006, "acme", "People0000");
    table_made(1007, "other", "People1999");

    ck_assert_int_eq(keep(world.worker).dropped, 1);

    ck_assert_int_eq(live(name_of(PERIOD_YEAR, -4)), 0);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from tables where live and table_id between 1001 and 1007"),
        6);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from operations where kind = 'delete_table'"), 1);
}
END_TEST

START_TEST(a_round_drops_a_bounded_number_of_tables)
{
    int rounds = 0;

    rule("People", PERIOD_DAY, 1, 1);
    for (int i = 0; i < 30; i++)
        table_made(1001 + i, "acme", name_of(PERIOD_DAY, -10 - i));

    while (keep(world.worker).dropped > 0)
        rounds++;

    ck_assert_int_eq(rounds, 2);
    ck_assert_int_eq(live("people_%"), 2);
}
END_TEST

START_TEST(a_worker_that_has_not_noticed_the_tables_makes_none_twice)
{
    struct worker *other = world_worker(&world, "worker-2");

    rule("People", PERIOD_HOUR, 1, 1);
    (void)keep(other);
    table_made(1001, "acme", name_of(PERIOD_HOUR, -9));

    ck_assert_int_eq(keep(world.worker).dropped, 1);

    struct period_counts late = keep(other);
    ck_assert_int_eq(late.made + late.dropped + late.refused, 0);
    worker_close(other);
}
END_TEST

START_TEST(each_table_has_an_audit_record)
{
    rule("People", PERIOD_YEAR, 1, 1);
    table_made(1001, "acme", "People1999");

    (void)keep(world.worker);

    ck_assert_int_eq(
        test_number(world.sql,
            "select count(*) from audit_records where account = 'acme' and outcome = 'OK' "
            "and (method, target) in (('periods/CreateTable', '%s'), ('periods/CreateTable', '%s'), "
            "('periods/DeleteTable', 'People1999'))",
            name_of(PERIOD_YEAR, 0), name_of(PERIOD_YEAR, 1)),
        3);
}
END_TEST

START_TEST(a_full_account_gets_no_more_and_others_do)
{
    test_sql(world.sql,
        "insert into tables (table_id, account, name, folded, created, live) "
        "select 10000 + i, 'acme', 'X' || i, 'x' || i, 1, true from generate_series(1, 4998) i");
    table_made(1001, "other", "Things");
    rule("People", PERIOD_YEAR, 3, 1);
    rule("Things", PERIOD_YEAR, 3, 1);

    struct period_counts counts = keep(world.worker);

    ck_assert_int_eq(counts.made, 1 + 4);
    ck_assert_int_eq(counts.refused, 1);
    ck_assert_str_eq(counts.example.reason, "QUOTA_EXCEEDED");
}
END_TEST

Suite *test_period_tables_suite(void)
{
    Suite *suite = suite_create("period_tables");
    TCase *tc = tcase_create("period_tables");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_present_and_the_coming_tables_are_made_once);
    tcase_add_test(tc, a_table_that_is_past_goes_and_all_others_stay);
    tcase_add_test(tc, a_round_drops_a_bounded_number_of_tables);
    tcase_add_test(tc, a_worker_that_has_not_noticed_the_tables_makes_none_twice);
    tcase_add_test(tc, each_table_has_an_audit_record);
    tcase_add_test(tc, a_full_account_gets_no_more_and_others_do);
    suite_add_tcase(suite, tc);
    return suite;
}
