/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sweep.c - purging dead rows through the floor (guard G3), markers, finished transactions.
 */
#include <check.h>

#include "store/background/sweep.h"
#include "tests/support/worker_world.h"

enum { HOUR_S = 3600 };

static struct world world;
static struct sweep_counts counts;
static bool more;

static void setup(void)
{
    counts = (struct sweep_counts){ 0 };
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

static void sweep(int64_t min_age_s)
{
    const struct sweep_ages ages = { .dead_row_s = min_age_s, .transaction_s = HOUR_S, .request_s = HOUR_S };
    struct error err = { 0 };

    ck_assert_msg(sweep_run(world.worker, &ages, &counts, &more, &err) == STATUS_OK, "%s", err.message);
}

static long long rows(void)
{
    return test_number(world.sql, "select count(*) from entities");
}

static long long catalogue(const char *column)
{
    return test_number(world.sql, "select %s from catalogue", column);
}

START_TEST(a_purged_key_comes_back_with_a_higher_version) /* guard G3 */
{
    int64_t first = world_put(&world, "r1", "Bonn", "x");
    int64_t second = world_put(&world, "r1", "Rome", "x");

    world_delete(&world, "r1");
    world_put(&world, "alive", "Bonn", "x");
    sweep(0);

    ck_assert_int_eq(counts.dead_rows, 1);
    ck_assert_int_eq(rows(), 1);
    ck_assert_int_eq(catalogue("floor"), second + 1);
    ck_assert(!more);

    /* The writer still has the previous catalogue, with the previous floor. */
    int64_t again = world_put(&world, "r1", "Bonn", "x");
    ck_assert_int_gt(again, second + 1);
    ck_assert_int_gt(again, first);
}
END_TEST

START_TEST(nothing_to_purge_leaves_the_catalogue_alone)
{
    long long version = catalogue("version");

    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Bonn", "x");
    world_delete(&world, "r2");
    sweep(HOUR_S);

    ck_assert_int_eq(counts.dead_rows, 0);
    ck_assert_int_eq(rows(), 2);
    ck_assert_int_eq(catalogue("version"), version);
    ck_assert_int_eq(catalogue("floor"), 0);
}
END_TEST

START_TEST(only_rows_dead_for_long_enough_go)
{
    world_put(&world, "old", "Bonn", "x");
    world_delete(&world, "old");
    world_put(&world, "young", "Bonn", "x");
    world_delete(&world, "young");
    test_sql(world.sql, "update entities set ts = ts - 2 * 3600 * 10000000::int8 where row_key = 'old'");

    sweep(HOUR_S);

    ck_assert_int_eq(counts.dead_rows, 1);
    ck_assert_str_eq(test_text(world.sql, "select row_key from entities"), "young");
}
END_TEST

START_TEST(a_locked_row_is_left_for_later)
{
    PGconn *other = test_connect(world.conninfo);

    world_put(&world, "r1", "Bonn", "x");
    world_delete(&world, "r1");
    world_put(&world, "r2", "Bonn", "x");
    world_delete(&world, "r2");
    test_sql(other, "begin; select 1 from entities where row_key = 'r1' for update");

    sweep(0);

    ck_assert_int_eq(counts.dead_rows, 1);
    ck_assert_str_eq(test_text(world.sql, "select row_key from entities"), "r1");
    test_sql(other, "rollback");
    sweep(0);
    ck_assert_int_eq(rows(), 0);
    PQfinish(other);
}
END_TEST

START_TEST(many_dead_rows_go_in_chunks)
{
    test_sql(world.sql,
        "insert into entities (bucket, table_id, partition_key, row_key, version, ts, dead, properties) "
        "select i %% 1024, %d, 'p' || i, 'r', 1 + i %% 7, 1, true, '' from generate_series(1, 2500) i",
        TABLE_ID);

    sweep(HOUR_S);

    ck_assert_int_eq(counts.dead_rows, 2500);
    ck_assert_int_eq(rows(), 0);
    ck_assert_int_eq(catalogue("floor"), 7);
}
END_TEST

START_TEST(old_markers_and_finished_transactions_go)
{
    test_sql(world.sql, "insert into commit_markers (bucket, connection_id, number, at) values "
                        "(0, 1, 1, now() - interval '2 hours'), (0, 2, 1, now() - interval '30 minutes')");
    test_sql(world.sql,
        "insert into transactions (bucket, account, txn_id, state, steps, steps_done, timeline, submitted, "
        "finished) "
        "select 0, 'a', name, state, '', 0, '', 1, case when age is null then 0 "
        "else ((extract(epoch from now()) + 11644473600 - age) * 10000000)::int8 end "
        "from (values ('old', 3, 7200), ('young', 3, 1800), ('open', 1, null)) t(name, state, age)");

    sweep(HOUR_S);

    ck_assert_int_eq(counts.markers, 1);
    ck_assert_int_eq(counts.transactions, 1);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from commit_markers where connection_id = 1"), 0);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from commit_markers where connection_id = 2"), 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from transactions where txn_id = 'old'"), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from transactions"), 2);
}
END_TEST

START_TEST(records_of_requests_go_after_their_time)
{
    test_sql(world.sql, "insert into requests select n %% 1024, 'acme', 'id ' || n, '', 'x', "
                        "now() - (3499.5 + n) * interval '1 second' from generate_series(1, 2500) n");

    do
        sweep(HOUR_S);
    while (more);

    ck_assert_int_eq(counts.requests, 2400);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from requests"), 100);
}
END_TEST

Suite *test_sweep_suite(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tc = tcase_create("sweep");

    test_postgres_start();
    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_purged_key_comes_back_with_a_higher_version);
    tcase_add_test(tc, nothing_to_purge_leaves_the_catalogue_alone);
    tcase_add_test(tc, only_rows_dead_for_long_enough_go);
    tcase_add_test(tc, a_locked_row_is_left_for_later);
    tcase_add_test(tc, many_dead_rows_go_in_chunks);
    tcase_add_test(tc, old_markers_and_finished_transactions_go);
    tcase_add_test(tc, records_of_requests_go_after_their_time);
    suite_add_tcase(suite, tc);
    return suite;
}
