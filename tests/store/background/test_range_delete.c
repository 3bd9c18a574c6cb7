/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_range_delete.c - deletes the entities that a filter matches: in chunks, by ordinary deletes, resumable; and
 * pauses and throttles operations.
 */
#include <check.h>
#include <stdio.h>

#include "domain/filter/filter.h"
#include "store/background/range_delete.h"
#include "store/job_work.h"
#include "store/jobs/job_calls.h"
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

static struct operation *begin(const char *table, const char *filter)
{
    struct operation *operation = call_make(&world.arena, OPERATION_RANGE_DELETE, table);
    struct operation_page *page = &operation->in.page;
    struct error err = { 0 };

    page->filter_text = str_of(filter);
    ck_assert_int_eq(filter_compile(page->filter_text, &world.arena, &page->filter, &err), STATUS_OK);
    filter_key_plan(page->filter, &world.arena, &page->plan);
    return call_run(&world.writer, range_delete_start, operation);
}

static const char *begun(const char *filter)
{
    struct operation *operation = begin("people", filter);

    call_succeeded(operation);
    return arena_copy(&world.arena, operation->out.jobs.jobs[0].operation_id).data;
}

static struct operation *control(const char *id, enum job_control what, int64_t rate)
{
    struct operation *operation = call_make(&world.arena, OPERATION_JOB_CONTROL, "");

    operation->in.jobs = (struct operation_jobs){ .operation_id = str_of(id), .control = what, .rate = rate };
    return call_run(&world.writer, job_calls_control, operation);
}

static long long living(const char *where)
{
    return test_number(
        world.sql, "select count(*) from entities where table_id = %d and not dead and %s", TABLE_ID, where);
}

/* Run one chunk of any operation; false: there was no work. */
static bool chunk(void)
{
    struct error err = { 0 };
    bool worked = false;

    ck_assert_msg(job_work_run(world.worker, &worked, &err) == STATUS_OK, "%s", err.message);
    return worked;
}

START_TEST(what_matches_goes_and_the_rest_stays)
{
    struct job_view run;
    const char *id;

    people_put(&world, 60);
    id = begun("City eq 'Bonn' or RowKey lt 'r0010'");
    run_chunks(world.worker);

    run = run_seen(&world, id);
    ck_assert_int_eq(run.state, JOB_DONE);
    ck_assert_int_gt(run.done, 0);
    ck_assert_int_eq(run.done, 60 - living("true"));
    ck_assert_int_eq(run.total, run.done);
    ck_assert(str_equal(run.kind, STR_LITERAL("delete_range")));
    ck_assert(str_equal(run.target, STR_LITERAL("People")));
    ck_assert_int_eq(living("row_key < 'r0010' or convert_from(properties, 'latin1') like '%Bonn%'"), 0);
}
END_TEST

START_TEST(deletions_are_ordinary_ones_and_reach_the_indexes)
{
    world_index(&world, BY_CITY, "City", 0);
    people_put(&world, 20);
    world_reconcile_all(&world);
    ck_assert_int_gt(world_entries(&world, BY_CITY), 0);
    begun("");
    run_chunks(world.worker);

    ck_assert_int_eq(living("true"), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities where dead"), 20);
    ck_assert_int_eq(world_intents(&world), 15); /* the other entities have no entry */
    world_reconcile_all(&world);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 0);
    world_check(&world);
}
END_TEST

START_TEST(a_large_range_goes_in_chunks_and_a_crash_repeats_one)
{
    const char *id;

    people_copy(&world, 1800);
    id = begun("RowKey ge 'c'");
    ck_assert(chunk());
    ck_assert_int_eq(run_seen(&world, id).state, JOB_RUNNING);
    ck_assert_int_eq(run_seen(&world, id).done, 500);

    /* The worker died after its deletes and before its checkpoint. */
    test_sql(world.sql,
        "update operations set has_cursor = false, done = 0, owner = 'dead', claim_expires_at = now()");
    run_chunks(world.worker);

    ck_assert_int_eq(run_seen(&world, id).state, JOB_DONE);
    ck_assert_int_eq(living("true"), 0);
}
END_TEST

START_TEST(a_failure_is_not_told_in_the_words_of_the_database)
{
    struct job_view run;
    const char *id;

    people_copy(&world, 900);
    id = begun("");
    test_sql(world.sql, "alter table operations add constraint host_db7 check (state <> 1 or done = 0)");
    run_chunks(world.worker);
    test_sql(world.sql, "alter table operations drop constraint host_db7");

    run = run_seen(&world, id);
    ck_assert_int_eq(run.state, JOB_FAILED);
    ck_assert_msg(strstr(run.error.data, "SQLSTATE 23514") != NULL, "%.*s", STR_ARG(run.error));
    ck_assert_msg(strstr(run.error.data, "db7") == NULL, "%.*s", STR_ARG(run.error));
}
END_TEST

START_TEST(a_table_of_the_same_name_is_left_alone)
{
    const char *id;

    people_copy(&world, 900);
    id = begun("");
    ck_assert(chunk());
    world_change(&world,
        "update tables set live = false where table_id = %d; "
        "insert into tables (table_id, account, name, folded, created, live) "
        "values (%d, 'acme', 'People', 'people', 1, true)",
        TABLE_ID, TABLE_ID + 7);
    test_sql(world.sql,
        "insert into entities select bucket, %d, partition_key, row_key, 1, 1, false, null, '' "
        "from entities where table_id = %d",
        TABLE_ID + 7, TABLE_ID);
    run_chunks(world.worker);

    ck_assert_int_eq(run_seen(&world, id).state, JOB_CANCELLED);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities where table_id = %d and not dead",
                         TABLE_ID + 7),
        900);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    world_index(&world, BY_CITY, "City", 0);

    call_failed(begin("Nowhere", ""), "TABLE_NOT_FOUND");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from operations"), 0);
    call_failed(control("delete-1", JOB_PAUSE, 0), "OPERATION_NOT_FOUND");
}
END_TEST

/* ---- control ---- */

START_TEST(a_paused_operation_stands_still_and_goes_on)
{
    const char *id;

    people_copy(&world, 1200);
    id = begun("");
    ck_assert(chunk());
    call_succeeded(control(id, JOB_PAUSE, 0));
    call_succeeded(control(id, JOB_PAUSE, 0));
    ck_assert_int_eq(run_seen(&world, id).state, JOB_PAUSED);
    ck_assert(!chunk());
    ck_assert_int_eq(living("true"), 700);
    call_succeeded(control(id, JOB_RESUME, 0));
    run_chunks(world.worker);

    ck_assert_int_eq(run_seen(&world, id).state, JOB_DONE);
    ck_assert_int_eq(run_seen(&world, id).done, 1200);
}
END_TEST

START_TEST(a_cancelled_operation_ends_where_it_is)
{
    const char *id;

    people_copy(&world, 1200);
    id = begun("");
    ck_assert(chunk());
    call_succeeded(control(id, JOB_CANCEL, 0));

    ck_assert(!chunk());
    ck_assert_int_eq(run_seen(&world, id).state, JOB_CANCELLED);
    ck_assert_int_gt(run_seen(&world, id).ended, 0);
    ck_assert_int_eq(living("true"), 700);
    call_succeeded(control(id, JOB_CANCEL, 0));
    call_failed(control(id, JOB_RESUME, 0), "OPERATION_NOT_CONTROLLABLE");
}
END_TEST

START_TEST(a_throttled_operation_rests_between_chunks)
{
    const char *id;

    people_copy(&world, 1200);
    id = begun("");
    call_succeeded(control(id, JOB_THROTTLE, 50));
    ck_assert(chunk());
    ck_assert(!chunk());
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from operations where claim_expires_at - now() between "
                               "interval '5 seconds' and interval '10 seconds'"),
        1);
    call_succeeded(control(id, JOB_THROTTLE, 0));
    ck_assert(chunk());
}
END_TEST

START_TEST(a_build_is_paused_but_not_cancelled)
{
    const char *id;

    people_put(&world, 40);
    call_succeeded(index_created(&world, "ByCity", "People", 5));
    id = index_seen(&world, "ByCity").build.operation_id.data;
    call_failed(control(id, JOB_CANCEL, 0), "OPERATION_NOT_CONTROLLABLE");
    call_succeeded(control(id, JOB_PAUSE, 0));
    ck_assert(!chunk());
    call_succeeded(control(id, JOB_RESUME, 0));
    run_chunks(world.worker);

    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    world_check(&world);
}
END_TEST

Suite *test_range_delete_suite(void)
{
    Suite *suite = suite_create("range_delete");
    TCase *tc = tcase_create("range_delete");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_matches_goes_and_the_rest_stays);
    tcase_add_test(tc, deletions_are_ordinary_ones_and_reach_the_indexes);
    tcase_add_test(tc, a_large_range_goes_in_chunks_and_a_crash_repeats_one);
    tcase_add_test(tc, a_failure_is_not_told_in_the_words_of_the_database);
    tcase_add_test(tc, a_table_of_the_same_name_is_left_alone);
    tcase_add_test(tc, what_cannot_be_is_refused);
    tcase_add_test(tc, a_paused_operation_stands_still_and_goes_on);
    tcase_add_test(tc, a_cancelled_operation_ends_where_it_is);
    tcase_add_test(tc, a_throttled_operation_rests_between_chunks);
    tcase_add_test(tc, a_build_is_paused_but_not_cancelled);
    suite_add_tcase(suite, tc);
    return suite;
}
