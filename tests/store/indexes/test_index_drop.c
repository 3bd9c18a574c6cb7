/* SPDX-License-Identifier: Apache-2.0 */
/* Dropped indexes and deleted tables: their names are free at once, their rows are purged in chunks. */
#include <check.h>

#include "store/catalogue/table_calls.h"
#include "store/indexes/index_calls.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

static long long last_index_id(void)
{
    return test_number(world.sql, "select max(index_id) from indexes");
}

START_TEST(a_dropped_index_leaves_nothing_and_its_name_at_once)
{
    struct operation *dropped;
    long long first;

    people_put(&world, 40);
    call_succeeded(index_created(&world, "ByCity", "People", 5));
    run_chunks(world.worker);
    first = last_index_id();
    dropped = index_dropped(&world, "bycity");
    call_succeeded(dropped);
    call_failed(index_dropped(&world, "ByCity"), "INDEX_NOT_FOUND");
    call_failed(
        call_run(&world.writer, index_calls_get, call_make(&world.arena, OPERATION_INDEX_GET, "ByCity")),
        "INDEX_NOT_FOUND");

    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(run_seen(&world, dropped->out.jobs.jobs[0].operation_id.data).state, JOB_DONE);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from indexes where index_id = %lld", first), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from tables where table_id = %lld", first), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    world_check(&world);
}
END_TEST

START_TEST(entries_of_a_dropped_index_are_deleted_in_chunks)
{
    long long index_id;

    people_copy(&world, 2500);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    index_id = last_index_id();
    ck_assert_int_eq(world_entries(&world, index_id), 2500);
    call_succeeded(index_dropped(&world, "ByCity"));
    ck_assert(run_chunk(world.worker));
    ck_assert_int_eq(world_entries(&world, index_id), 500);
    ck_assert_int_eq(run_chunks(world.worker), 4); /* the other rows, and three state rows */
    ck_assert_int_eq(world_entries(&world, index_id), 0);
    ck_assert_int_eq(test_number(world.sql, "select done from operations where kind = 'drop_index'"), 2500);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id = %d", TABLE_ID), 2500);
}
END_TEST

START_TEST(a_dropped_index_leaves_no_states)
{
    people_copy(&world, 2500);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 2500);
    call_succeeded(index_dropped(&world, "ByCity"));
    run_chunks(world.worker);

    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 0);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id = %d", TABLE_ID), 2500);
}
END_TEST

/* Guard G25. */
START_TEST(states_that_a_living_index_needs_stay)
{
    people_put(&world, 40);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    call_succeeded(index_created(&world, "AlsoByCity", "People", 0));
    run_chunks(world.worker);
    call_succeeded(index_dropped(&world, "ByCity"));
    run_chunks(world.worker);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 30);

    world_put(&world, "r00001", "Paris", "x");
    world_reconcile_all(&world);

    world_check(&world);
}
END_TEST

START_TEST(dropping_cancels_a_running_build)
{
    const char *build;

    people_copy(&world, 600);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    ck_assert(run_chunk(world.worker));
    build = index_seen(&world, "ByCity").build.operation_id.data;
    call_succeeded(index_dropped(&world, "ByCity"));

    ck_assert_int_eq(run_seen(&world, build).state, JOB_CANCELLED);
    run_chunks(world.worker);
    ck_assert_int_eq(run_seen(&world, build).state, JOB_CANCELLED);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id <> %d", TABLE_ID), 0);
}
END_TEST

START_TEST(a_deleted_table_is_purged_with_its_indexes)
{
    struct operation *deleted = call_make(&world.arena, OPERATION_TABLE_DELETE, "People");

    people_put(&world, 40);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    world_put(&world, "r00000", "Paris", "x");
    call_succeeded(call_run(&world.writer, table_calls_delete, deleted));
    run_chunks(world.worker);

    ck_assert_int_eq(run_seen(&world, deleted->out.jobs.jobs[0].operation_id.data).state, JOB_DONE);
    ck_assert_int_eq(
        test_number(world.sql, "select (select count(*) from entities) + (select count(*) from intents) "
                               "+ (select count(*) from index_state) + (select count(*) from indexes) "
                               "+ (select count(*) from tables)"),
        0);
}
END_TEST

Suite *test_index_drop_suite(void)
{
    Suite *suite = suite_create("index_drop");
    TCase *tc = tcase_create("index_drop");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_dropped_index_leaves_nothing_and_its_name_at_once);
    tcase_add_test(tc, entries_of_a_dropped_index_are_deleted_in_chunks);
    tcase_add_test(tc, a_dropped_index_leaves_no_states);
    tcase_add_test(tc, states_that_a_living_index_needs_stay);
    tcase_add_test(tc, dropping_cancels_a_running_build);
    tcase_add_test(tc, a_deleted_table_is_purged_with_its_indexes);
    suite_add_tcase(suite, tc);
    return suite;
}
