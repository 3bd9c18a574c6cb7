/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of a build, which plans a range of keys before it locks their state rows: what others do between the reading
 * and the lock; several indexes in one pass; what is left to a reconcile.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "store/indexes/index_calls.h"
#include "store/sql.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

/* As many as a chunk has at most. */
enum { CHUNK_ROWS = 2000 };

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

/* What the walk has left was found to be right at once. */
static void assert_nothing_was_mended(void)
{
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_differences"), 0);
}

/* ---- beside others ---- */

static void *run_one_chunk(void *unused)
{
    (void)unused;
    ck_assert(run_chunk(world.worker));
    return NULL;
}

/* A chunk that waits for the transaction that inserts or locks the state row of r00001, and runs `act` meanwhile. */
static void chunk_beside(const char *hold, void (*act)(void), const char *let_go)
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    test_sql(other, "begin; %s", hold);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_one_chunk, NULL), 0);
    test_await(world.sql,
        "select (count(*) = 1)::int from pg_stat_activity where datname = current_database() "
        "and application_name = 'tavola-worker' and wait_event_type = 'Lock'");
    act();
    test_sql(other, "%s", let_go);
    pthread_join(thread, NULL);
    PQfinish(other);
}

#define MAKE_R1                                                                                              \
    "insert into index_state select bucket, table_id, partition_key, row_key, 0, '' from entities "          \
    "where table_id = 1000 and row_key = 'r00001'"
#define HOLD_R1 "select from index_state where row_key = 'r00001' for update"

/* By a worker of its own: the world's waits in its chunk. */
static void reconcile_elsewhere(const char *row)
{
    struct worker *mine = world.worker;

    world.worker = world_worker(&world, "elsewhere");
    world_reconcile(&world, row);
    worker_close(world.worker);
    world.worker = mine;
}

static void delete_r2(void)
{
    world_delete(&world, "r00002");
    reconcile_elsewhere("r00002");
}

static void change_r2(void)
{
    world_put(&world, "r00002", "Paris", "y");
    reconcile_elsewhere("r00002");
}

static void change_r2_and_leave_it(void)
{
    world_put(&world, "r00002", "Paris", "y");
}

/* Without a City there is no entry, so no state row stays either. */
static void empty_r2(void)
{
    world_put(&world, "r00002", NULL, "x");
    reconcile_elsewhere("r00002");
}

static const struct meeting {
    bool has_states; /* the table has another index */
    void (*act)(void);
} meetings[] = {
    { false, delete_r2 },
    { false, empty_r2 },
    { false, change_r2 },
    { false, change_r2_and_leave_it },
    { true, delete_r2 },
    { true, empty_r2 },
    { true, change_r2 },
    { true, change_r2_and_leave_it },
};

/* Guard G8: the version of an entity is read after the lock of its state row, so nothing older than that is written. */
START_TEST(what_changes_between_the_reading_and_the_lock_is_not_written)
{
    const struct meeting *c = &meetings[_i];

    if (c->has_states)
        world_index(&world, BY_NOTE, "Note", 0);
    people_put(&world, 8);
    world_reconcile_all(&world);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    chunk_beside(c->has_states ? HOLD_R1 : MAKE_R1, c->act, "rollback");
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    assert_nothing_was_mended();
    world_reconcile_all(&world);
    world_check(&world);
}
END_TEST

static void nothing(void)
{
}

/* A state row that another transaction has inserted meanwhile is left to a reconcile, which locks before it reads. */
START_TEST(a_state_row_that_comes_meanwhile_is_reconciled)
{
    people_put(&world, 8);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    chunk_beside(MAKE_R1, nothing, "commit");
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_VALIDATING);
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").entries, 6);
    assert_nothing_was_mended();
    world_check(&world);
}
END_TEST

/* Guard G20: the checkpoint is committed behind the entries, so a crash that takes back these takes back that. */
START_TEST(a_crash_takes_back_checkpoint_and_entries_together)
{
    people_copy(&world, CHUNK_ROWS + 100);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    test_postgres_hold_log(world.sql);
    ck_assert(run_chunk(world.worker));
    ck_assert_int_eq(index_seen(&world, "ByCity").build.done, CHUNK_ROWS);

    world_crash(&world);

    ck_assert_int_eq(index_seen(&world, "ByCity").build.done % CHUNK_ROWS, 0);
    ck_assert_int_ge(test_number(world.sql, "select count(*) from entities where table_id <> 1000"),
        index_seen(&world, "ByCity").build.done);
    test_sql(world.sql, "update operations set claim_expires_at = now()");
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    assert_nothing_was_mended();
    world_check(&world);
}
END_TEST

static const char *const changes_of_r1[] = {
    "select 1",
    "update index_state set row_key = 'r00009' where row_key = 'r00001'",
    "update index_state set partition_key = 'q' where row_key = 'r00001'",
    "update index_state set table_id = 1001 where row_key = 'r00001'",
    "update index_state set applied = 7 where row_key = 'r00001'",
    "update index_state set manifest = 'b' where row_key = 'r00001'",
};

/* Guard G8: a place that was read without a lock may have got another row, or the row another content. */
START_TEST(a_state_row_is_changed_only_if_it_is_as_it_was_read)
{
    const char *place;

    test_sql(world.sql, "insert into index_state values (1, 1000, 'p', 'r00001', 5, 'a')");
    test_sql(world.sql, "%s", changes_of_r1[_i]);
    place = test_text(world.sql, "select ctid from index_state");
    test_sql(world.sql, "prepare change as %s", sql_walk_state_update.text);
    test_sql(world.sql,
        "execute change(array['%s'::tid], '{p}', '{r00001}', '{5}', array['a'::bytea], '{6}', "
        "array['c'::bytea], 1000)",
        place);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from index_state where applied = 6 and manifest = 'c'"),
        _i == 0);
}
END_TEST

/* ---- several indexes ---- */

static const char *const names[] = { "First", "Second", "Third" };

static long long walked(const char *name)
{
    return test_number(world.sql,
        "select case when phase = 0 then done else -1 end from operations where target = '%s'", name);
}

/* One chunk each would be three. */
START_TEST(indexes_that_are_built_share_one_pass)
{
    people_copy(&world, 2 * CHUNK_ROWS + 100);
    for (int i = 0; i < 3; i++)
        call_succeeded(index_created(&world, names[i], "People", 0));
    ck_assert(run_chunk(world.worker));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(walked(names[i]), CHUNK_ROWS);
    ck_assert(run_chunk(world.worker));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(walked(names[i]), 2 * CHUNK_ROWS);
    run_chunks(world.worker);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(index_seen(&world, names[i]).state, INDEX_READY);
        ck_assert_int_eq(index_seen(&world, names[i]).entries, 2 * CHUNK_ROWS + 100);
    }
    world_check(&world);
}
END_TEST

/* The one that is behind goes first, until both are at one place. */
START_TEST(an_index_that_comes_later_catches_up)
{
    people_copy(&world, 3 * CHUNK_ROWS);
    call_succeeded(index_created(&world, "First", "People", 0));
    ck_assert(run_chunk(world.worker));
    ck_assert_int_eq(walked("First"), CHUNK_ROWS);
    call_succeeded(index_created(&world, "Second", "People", 0));
    ck_assert(run_chunk(world.worker));
    ck_assert_int_eq(walked("First"), CHUNK_ROWS);
    ck_assert_int_eq(walked("Second"), CHUNK_ROWS);
    ck_assert(run_chunk(world.worker));
    ck_assert_int_eq(walked("First"), 2 * CHUNK_ROWS);
    ck_assert_int_eq(walked("Second"), 2 * CHUNK_ROWS);
    run_chunks(world.worker);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(index_seen(&world, names[i]).entries, 3 * CHUNK_ROWS);
    world_check(&world);
}
END_TEST

static const char *const apart[] = {
    "update operations set state = 2 where target = 'Second'",
    "update operations set rate = 100 where target = 'Second'",
    "update operations set owner = 'another/1', claim_expires_at = now() + interval '8 seconds' where target "
    "= 'Second'",
};

START_TEST(a_build_that_is_held_slowed_down_or_carried_on_elsewhere_walks_alone)
{
    people_copy(&world, 2 * CHUNK_ROWS);
    for (int i = 0; i < 2; i++)
        call_succeeded(index_created(&world, names[i], "People", 0));
    test_sql(world.sql, "%s", apart[_i]);
    test_sql(world.sql, "update operations set claim_expires_at = '-infinity' where target = 'First'");

    ck_assert(run_chunk(world.worker));

    ck_assert_int_eq(walked("First"), CHUNK_ROWS);
    ck_assert_int_eq(walked("Second"), 0);
}
END_TEST

/* Keys that have to be reconciled do not tear the builds apart. */
START_TEST(builds_stay_together_over_violations)
{
    struct operation *numbers;

    people_copy(&world, CHUNK_ROWS + 10);
    world_put(&world, "r000007", NULL, "x");
    call_succeeded(index_created(&world, "First", "People", 0));
    numbers = index_created(&world, "Second", "People", 4);
    call_succeeded(numbers);
    ck_assert(run_chunk(world.worker));
    ck_assert_int_eq(walked("First"), CHUNK_ROWS);
    ck_assert_int_eq(walked("Second"), CHUNK_ROWS);
    ck_assert_int_eq(index_seen(&world, "Second").violations, CHUNK_ROWS - 1);
    ck_assert_int_eq(index_seen(&world, "First").entries, CHUNK_ROWS - 1);
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "Second").violations, CHUNK_ROWS + 9);
    ck_assert_int_eq(index_seen(&world, "First").entries, CHUNK_ROWS + 9);
}
END_TEST

/* ---- unusual entities ---- */

START_TEST(a_manifest_that_cannot_be_read_is_made_anew)
{
    people_put(&world, 8);
    test_sql(world.sql,
        "insert into index_state select bucket, table_id, partition_key, row_key, 1, 'not one' "
        "from entities where row_key = 'r00001'");
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    world_check(&world);
}
END_TEST

/* Entries that no manifest names: the walk's plain insert fails, and so the chunk is done key by key. */
START_TEST(entries_that_no_manifest_names_are_written_over)
{
    people_put(&world, 8);
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    ck_assert(run_chunk(world.worker));
    test_sql(
        world.sql, "delete from index_state; update operations set phase = 0, has_cursor = false, done = 0");
    run_chunks(world.worker);
    ck_assert_int_eq(index_seen(&world, "ByCity").state, INDEX_READY);
    ck_assert_int_eq(index_seen(&world, "ByCity").entries, 6);
    world_check(&world);
}
END_TEST

/* Work that was given up left the entries of another index behind: the build tries it again, as a reconcile would. */
START_TEST(a_key_that_was_given_up_is_reconciled)
{
    world_index(&world, BY_NOTE, "Note", 0);
    people_put(&world, 8);
    world_reconcile_all(&world);
    world_put(&world, "r00001", "Oslo", "another");
    test_sql(world.sql,
        "delete from intents; insert into dead_letters (bucket, kind, table_id, partition_key, row_key, "
        "index_id, dead, "
        "failures, cause, history) select bucket, 1, table_id, partition_key, row_key, 0, true, 9, 'x', 'x' "
        "from entities where table_id = 1000 and row_key = 'r00001'");
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    world_check(&world);
}
END_TEST

Suite *test_build_walk_suite(void)
{
    const char *given = getenv("TAVOLA_POSTGRES");
    Suite *suite = suite_create("build_walk");
    TCase *tc = tcase_create("build_walk");

    test_postgres_start();
    tcase_set_timeout(tc, 180);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(
        tc, what_changes_between_the_reading_and_the_lock_is_not_written, 0, ARRAY_LEN(meetings));
    tcase_add_test(tc, a_state_row_that_comes_meanwhile_is_reconciled);
    if (!given || !*given) /* a server of others is not for crashing */
        tcase_add_test(tc, a_crash_takes_back_checkpoint_and_entries_together);
    tcase_add_loop_test(tc, a_state_row_is_changed_only_if_it_is_as_it_was_read, 0, ARRAY_LEN(changes_of_r1));
    tcase_add_test(tc, indexes_that_are_built_share_one_pass);
    tcase_add_test(tc, an_index_that_comes_later_catches_up);
    tcase_add_loop_test(
        tc, a_build_that_is_held_slowed_down_or_carried_on_elsewhere_walks_alone, 0, ARRAY_LEN(apart));
    tcase_add_test(tc, builds_stay_together_over_violations);
    tcase_add_test(tc, a_manifest_that_cannot_be_read_is_made_anew);
    tcase_add_test(tc, entries_that_no_manifest_names_are_written_over);
    tcase_add_test(tc, a_key_that_was_given_up_is_reconciled);
    suite_add_tcase(suite, tc);
    return suite;
}
