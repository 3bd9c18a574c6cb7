/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks whose chunks are done by two threads: what they build together, and what a turn counts if one of its chunks
 * fails.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "store/jobs/crew.h"
#include "store/jobs/report_calls.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum {
    CHUNK_ROWS = 2000,
    PEOPLE = 4 * CHUNK_ROWS + 100,
};

static struct world world;

static void setup(void)
{
    struct error err = { 0 };

    world_open(&world);
    ck_assert_msg(crew_open(world.worker, &err) == STATUS_OK, "%s", err.message);
}

static void teardown(void)
{
    crew_close(world.worker);
    world_close(&world);
}

static void assert_ready(const char *name, int entries)
{
    ck_assert_int_eq(index_seen(&world, name).state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, name).entries, entries);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_differences"), 0);
}

START_TEST(a_crew_builds_what_one_thread_builds)
{
    people_copy(&world, PEOPLE);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    assert_ready("ByCity", PEOPLE);
    ck_assert_int_eq(index_seen(&world, "ByCity").build.done, 3 * PEOPLE);
}
END_TEST

/*
 * Each of them is walked for all: none is left to redo what a turn has done for it, nor to wait for its claim to end.
 */
START_TEST(a_turn_counts_for_all_builds_of_the_table)
{
    static const char *const names[] = { "First", "Second", "Third" };

    people_copy(&world, PEOPLE);
    for (int i = 0; i < 3; i++)
        call_succeeded(index_created(&world, names[i], "People", 0));
    ck_assert(run_chunk(world.worker));
    ck_assert_int_eq(
        test_number(world.sql, "select count(distinct done) from operations where phase = 0"), 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from operations where owner <> ''"), 0);
    run_chunks(world.worker);
    for (int i = 0; i < 3; i++)
        assert_ready(names[i], PEOPLE);
}
END_TEST

/* Entries that no manifest names, in the third chunk: those before it count, and it is done key by key. */
START_TEST(a_turn_counts_up_to_a_chunk_that_fails)
{
    people_copy(&world, PEOPLE);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    test_sql(world.sql, "delete from index_state; delete from entities where table_id <> 1000 and row_key "
                        "not like '%%r005000%%';"
                        "update operations set phase = 0, has_cursor = false, done = 0, state = 1;"
                        "update indexes set state = 1; update catalogue set version = version + 1");
    ck_assert(run_chunk(world.worker));
    ck_assert_int_ge(test_number(world.sql, "select done from operations"), CHUNK_ROWS);
    ck_assert_int_le(test_number(world.sql, "select done from operations"), 2 * CHUNK_ROWS);
    run_chunks(world.worker);
    assert_ready("ByCity", PEOPLE);
}
END_TEST

static long long verified(bool is_fast, const char *column)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_VERIFY, "ByCity");
    const char *id;

    operation->in.verify =
        (struct operation_verify){ .is_fast = is_fast, .report_id = STR_EMPTY, .values = STR_EMPTY };
    call_succeeded(call_run(&world.writer, report_calls_start, operation));
    id = arena_copy(&world.arena, operation->out.jobs.jobs[0].operation_id).data;
    run_chunks(world.worker);
    return test_number(world.sql, "select %s from index_reports where operation_id = '%s'", column, id);
}

/* A chunk of sums has 8,000 rows: one entry is missing in the first, and one in the second. */
START_TEST(the_sums_of_a_crew_find_what_differs)
{
    people_copy(&world, PEOPLE);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    ck_assert_int_eq(verified(_i, "sources"), PEOPLE);
    ck_assert_int_eq(verified(_i, "entries"), PEOPLE);
    ck_assert_int_eq(verified(_i, "missing"), 0);
    test_sql(world.sql, "delete from entities where table_id <> 1000 and (row_key like '%%r000007%%' or "
                        "row_key like '%%r008050%%')");
    ck_assert_int_eq(verified(_i, "missing"), 2);
    ck_assert_int_eq(verified(_i, "dangling + mismatched + manifests"), 0);
}
END_TEST

/* Among small entities some whose sizes have to be summed up, and one at the beginning. */
START_TEST(large_entities_are_met_anywhere)
{
    enum { BYTES = 300000 };
    char *note = xmalloc(BYTES + 1);

    memset(note, 'x', BYTES);
    note[BYTES] = '\0';
    people_copy(&world, CHUNK_ROWS);
    for (int i = 0; i < 60; i++)
        world_put(&world, arena_format(&world.arena, "r%06d", i < 40 ? i : 30 * i).data, "Bonn", note);
    free(note);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    assert_ready(
        "ByCity", (int)test_number(world.sql, "select count(*) from entities where table_id = 1000"));
}
END_TEST

/* Others keep the larger share of the processors. */
START_TEST(a_crew_works_together_only_while_the_other_sessions_are_idle)
{
    PGconn *other = test_connect(world.conninfo);
    struct error err = { 0 };

    ck_assert_int_eq(crew_look_around(world.worker, &err), STATUS_OK);
    ck_assert_int_eq(crew_pace(world.worker), CREW_TOGETHER);
    crew_give_way(world.worker, true);
    ck_assert_int_eq(crew_pace(world.worker), CREW_STEP);
    crew_give_way(world.worker, false);
    test_sql(other, "begin");
    ck_assert_int_eq(crew_look_around(world.worker, &err), STATUS_OK);
    ck_assert_int_eq(crew_pace(world.worker), CREW_ALONE);
    PQfinish(other);
}
END_TEST

Suite *test_build_turn_suite(void);
Suite *test_build_turn_suite(void)
{
    Suite *suite = suite_create("build_turn");
    TCase *tc = tcase_create("build_turn");

    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_crew_builds_what_one_thread_builds);
    tcase_add_test(tc, a_turn_counts_for_all_builds_of_the_table);
    tcase_add_test(tc, a_turn_counts_up_to_a_chunk_that_fails);
    tcase_add_loop_test(tc, the_sums_of_a_crew_find_what_differs, 0, 2);
    tcase_add_test(tc, large_entities_are_met_anywhere);
    tcase_add_test(tc, a_crew_works_together_only_while_the_other_sessions_are_idle);
    suite_add_tcase(suite, tc);
    return suite;
}
