/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reconcile.c - entries become what their sources ask for, even if work is cut or repeated: guards G8, G9, G10.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/indexes/reconcile.h"
#include "tests/support/worker_world.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
    world_index(&world, BY_CITY, "City", 0);
}

static void teardown(void)
{
    world_close(&world);
}

/* ---- one after the other ---- */

START_TEST(a_new_entity_gets_its_entry)
{
    int64_t version = world_put(&world, "r1", "Bonn", "x");

    struct reconcile_counts counts = world_reconcile(&world, "r1");

    ck_assert_int_eq(counts.keys, 1);
    ck_assert_int_eq(counts.entries_written, 1);
    ck_assert_int_eq(counts.intents_removed, 1);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 1);
    ck_assert_int_eq(
        test_number(world.sql, "select version from entities where table_id = %d", BY_CITY), version);
    ck_assert_int_eq(test_number(world.sql, "select applied from index_state"), version);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities e join entities s using (ts) "
                                            "where e.table_id = 2000 and s.table_id = 1000"),
        1);
    world_check(&world);
}
END_TEST

START_TEST(a_changed_value_moves_the_entry_and_moves_it_back)
{
    static const char *const cities[] = { "Bonn", "Rome", "Bonn" };

    for (size_t i = 0; i < ARRAY_LEN(cities); i++) {
        world_put(&world, "r1", cities[i], "x");
        world_reconcile(&world, "r1");

        ck_assert_str_eq(
            test_text(world.sql, "select partition_key from entities where table_id = %d", BY_CITY),
            cities[i]);
        world_check(&world);
    }
}
END_TEST

START_TEST(an_entry_comes_and_goes_with_the_match_of_the_filter)
{
    static const struct {
        const char *note;
        int entries;
    } steps[] = { { "y", 0 }, { "x", 1 }, { "x", 1 }, { "y", 0 }, { "x", 1 } };
    static struct key_part city = { .text = { "City", 4 } };

    world_add_index(&world, 2007,
        (struct index){ .shape = INDEX_COPY,
            .place = PLACE_OTHER_PARTITION,
            .partition_key = { &city, 1 },
            .projection = PROJECT_KEYS_ONLY,
            .filter_text = STR_LITERAL("Note eq 'x'") });
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        world_put(&world, "r1", "Bonn", steps[i].note);
        world_reconcile(&world, "r1");

        ck_assert_int_eq(world_entries(&world, 2007), steps[i].entries);
        world_check(&world);
    }
    world_delete(&world, "r1");
    world_reconcile(&world, "r1");
    ck_assert_int_eq(world_entries(&world, 2007), 0);
}
END_TEST

START_TEST(changes_that_came_together_are_one_reading)
{
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r1", "Rome", "x");
    world_put(&world, "r1", "Bonn", "y");

    struct reconcile_counts counts = world_reconcile(&world, "r1");

    ck_assert_int_eq(counts.intents_removed, 3);
    ck_assert_int_eq(counts.entries_written, 1);
    world_check(&world);
}
END_TEST

START_TEST(a_deleted_entity_leaves_neither_entry_nor_state_and_comes_back)
{
    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    world_delete(&world, "r1");
    struct reconcile_counts counts = world_reconcile(&world, "r1");

    ck_assert_int_eq(counts.entries_deleted, 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities where table_id = %d", BY_CITY), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 0);

    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    world_check(&world);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 1);
}
END_TEST

START_TEST(duplicates_and_late_messages_do_nothing)
{
    struct intent messages[] = { world_message("r2"), world_message("r1"), world_message("r2") };
    struct reconcile_counts first = { 0 }, late = { 0 };
    struct error err = { 0 };

    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Rome", "x");

    ck_assert_int_eq(reconcile_keys(world.worker, messages, 3, false, &first, &err), STATUS_OK);
    ck_assert_int_eq(reconcile_keys(world.worker, messages, 3, false, &late, &err), STATUS_OK);

    ck_assert_int_eq(first.keys, 2);
    ck_assert_int_eq(first.entries_written, 2);
    ck_assert_int_eq(late.keys, 0);
    world_check(&world);
}
END_TEST

START_TEST(a_key_without_intents_beside_one_with_is_left_alone)
{
    struct intent messages[] = { world_message("open"), world_message("unknown") };
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    world_put(&world, "open", "Bonn", "x");

    ck_assert_int_eq(reconcile_keys(world.worker, messages, 2, false, &counts, &err), STATUS_OK);

    ck_assert_int_eq(counts.keys, 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 1);
    world_check(&world);
}
END_TEST

START_TEST(all_indexes_follow_and_sparse_ones_skip)
{
    world_index(&world, BY_NOTE, "Note", 0);
    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", NULL, "y");
    world_put(&world, "r3", "Rome", NULL);
    world_put(&world, "r4", NULL, NULL);

    world_reconcile_all(&world);

    ck_assert_int_eq(world_entries(&world, BY_CITY), 2);
    ck_assert_int_eq(world_entries(&world, BY_NOTE), 2);
    world_check(&world);

    world_put(&world, "r1", NULL, "x");
    world_reconcile_all(&world);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 1);
    world_check(&world);
}
END_TEST

START_TEST(an_entry_is_not_written_again_while_its_content_stays)
{
    world_index(&world, BY_NOTE, "Note", 0); /* keys only */
    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    world_put(&world, "r1", "Rome", "x");

    struct reconcile_counts counts = world_reconcile(&world, "r1");

    ck_assert_int_eq(counts.entries_written, 1);
    ck_assert_int_eq(counts.entries_deleted, 1);
    world_check(&world);
}
END_TEST

/* ---- indexes are created and dropped ---- */

START_TEST(a_worker_notices_an_index_that_was_made_meanwhile)
{
    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    world_index(&world, BY_NOTE, "Note", 0);
    world_put(&world, "r1", "Rome", "x");

    world_reconcile(&world, "r1");

    ck_assert_int_eq(world_entries(&world, BY_NOTE), 1);
    world_check(&world);
}
END_TEST

START_TEST(only_force_reconciles_keys_without_intents)
{
    struct intent message = world_message("r1");
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    world_put(&world, "r1", NULL, "x"); /* no entry, so no intent */
    ck_assert_int_eq(world_intents(&world), 0);
    world_index(&world, BY_NOTE, "Note", 0);

    ck_assert_int_eq(world_reconcile(&world, "r1").keys, 0);
    ck_assert_int_eq(world_entries(&world, BY_NOTE), 0);
    ck_assert_int_eq(reconcile_keys(world.worker, &message, 1, true, &counts, &err), STATUS_OK);

    ck_assert_int_eq(counts.keys, 1);
    ck_assert_int_eq(world_entries(&world, BY_NOTE), 1);
    world_check(&world);
}
END_TEST

START_TEST(entries_of_an_index_being_dropped_are_left_to_the_drop)
{
    world_index(&world, BY_NOTE, "Note", 0);
    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    world_change(&world, "update indexes set state = 4 where index_id = %d", BY_NOTE);
    world_put(&world, "r1", "Rome", "y");

    world_reconcile(&world, "r1");

    ck_assert_int_eq(world_entries(&world, BY_NOTE), 1);
    world_check(&world); /* of the index that still exists */
}
END_TEST

START_TEST(a_table_that_is_gone_loses_its_intents_and_states)
{
    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    world_put(&world, "r1", "Rome", "x");
    world_put(&world, "r2", "Rome", "x");
    world_change(&world, "update tables set live = false; update indexes set state = 4");

    world_reconcile(&world, "r1");
    world_reconcile(&world, "r2");

    ck_assert_int_eq(world_intents(&world), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 0);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 1);
}
END_TEST

/* ---- violations ---- */

START_TEST(a_violation_is_noted_and_goes_with_its_cause)
{
    world_index(&world, BY_NOTE, "Note", 3);
    world_put(&world, "r1", "Bonn", "no number");

    struct reconcile_counts counts = world_reconcile(&world, "r1");

    ck_assert_int_eq(counts.violations, 1);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 1);
    ck_assert_int_eq(
        test_number(world.sql,
            "select count(*) from dead_letters where kind = 1 and table_id = %d and partition_key = 'p' "
            "and row_key = 'r1' and index_id = %d and dead and cause <> ''",
            TABLE_ID, BY_NOTE),
        1);

    world_put(&world, "r1", "Bonn", "still none");
    world_reconcile(&world, "r1");
    ck_assert_int_eq(test_number(world.sql, "select failures from dead_letters"), 2);

    world_put(&world, "r1", "Bonn", NULL);
    world_reconcile(&world, "r1");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    world_check(&world);
}
END_TEST

/* ---- beside other transactions ---- */

static void *reconcile_r1(void *unused)
{
    (void)unused;
    world_reconcile(&world, "r1");
    return NULL;
}

#define WORKERS_IN_LOCK                                                                                      \
    "(select count(*) from pg_stat_activity where datname = current_database() "                             \
    "and application_name = 'tavola-worker' and wait_event_type = 'Lock')"

static void await_workers_in_lock(int count)
{
    test_await(world.sql, "select (" WORKERS_IN_LOCK " = %d)::int", count);
}

/* Guards G0, G8: the source is read after the state row was locked, so it includes writes made in between. */
START_TEST(the_source_is_read_after_the_lock)
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    world_put(&world, "r1", "Bonn", "x");
    test_sql(other, "begin; insert into index_state values (%d, %d, 'p', 'r1', 0, '')",
        world_message("r1").bucket, TABLE_ID);
    ck_assert_int_eq(pthread_create(&thread, NULL, reconcile_r1, NULL), 0);
    await_workers_in_lock(1);
    world_put(&world, "r1", "Rome", "x");
    test_sql(other, "rollback");
    pthread_join(thread, NULL);

    ck_assert_str_eq(
        test_text(world.sql, "select partition_key from entities where table_id = %d", BY_CITY), "Rome");
    world_check(&world);
    PQfinish(other);
}
END_TEST

/* Guard G8: the reconcile waits for the holder of the state row, also if the row existed before. */
START_TEST(the_state_row_of_a_known_key_is_waited_for)
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    world_put(&world, "r1", "Cork", "x");
    test_sql(other, "begin; select from index_state for update");
    ck_assert_int_eq(pthread_create(&thread, NULL, reconcile_r1, NULL), 0);
    test_await(world.sql, "select (" WORKERS_IN_LOCK " = 1 or not exists (select from intents))::int");
    ck_assert_int_eq(test_number(world.sql, "select " WORKERS_IN_LOCK), 1);
    world_put(&world, "r1", "Rome", "x");
    test_sql(other, "rollback");
    pthread_join(thread, NULL);

    ck_assert_str_eq(
        test_text(world.sql, "select partition_key from entities where table_id = %d", BY_CITY), "Rome");
    world_check(&world);
    PQfinish(other);
}
END_TEST

static void *reconcile_both(void *unused)
{
    struct intent messages[] = { world_message("r1"), world_message("r2") };
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    (void)unused;
    ck_assert_msg(
        reconcile_keys(world.worker, messages, 2, true, &counts, &err) == STATUS_OK, "%s", err.message);
    return NULL;
}

/*
 * The worker has r1 and inserts the row of r2. `other` inserts that row first, so that `third` gets r1 and deletes
 * it.
 */
static bool take_away_in_between(PGconn *other, PGconn *third)
{
    pthread_t thread;
    PGresult *result;

    world_put(&world, "r2", "Rome", "x");
    test_sql(other, "begin; insert into index_state values (%d, %d, 'p', 'r2', 0, '')",
        world_message("r2").bucket, TABLE_ID);
    ck_assert_int_eq(pthread_create(&thread, NULL, reconcile_both, NULL), 0);
    await_workers_in_lock(1);
    ck_assert_int_eq(PQsendQuery(third, "delete from index_state where row_key = 'r1';"
                                        "delete from entities where partition_key = 'Bonn'"),
        1);
    test_await(world.sql, "select (count(*) = 2)::int from pg_stat_activity "
                          "where datname = current_database() and wait_event_type = 'Lock'");
    test_sql(other, "commit");
    pthread_join(thread, NULL);
    while ((result = PQgetResult(third)))
        PQclear(result);
    return test_number(world.sql, "select count(*) from index_state where row_key = 'r1'") == 1;
}

/* After a worker has released its locks and taken them again, it does not use what it had read before. */
START_TEST(what_was_read_is_forgotten_with_the_locks)
{
    PGconn *other = test_connect(world.conninfo), *third = test_connect(world.conninfo);
    bool happened = false;

    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    for (int tries = 0; tries < 50 && !happened; tries++) {
        happened = take_away_in_between(other, third);
        if (happened)
            world_check(&world);
        /* Otherwise the worker would get r1 again before the other transactions do. */
        world_put(&world, "r1", "Bonn", NULL);
        world_put(&world, "r1", "Bonn", "x");
        world_delete(&world, "r2");
        world_reconcile_all(&world);
    }
    ck_assert(happened);
    PQfinish(other);
    PQfinish(third);
}
END_TEST

/* Guard G9: a write after the read keeps its intent, so its key is reconciled again. */
START_TEST(an_intent_that_came_after_the_reading_stays)
{
    PGconn *other = test_connect(world.conninfo);
    pthread_t thread;

    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    world_put(&world, "r1", "Bonn", "y");
    test_sql(other, "begin; select 1 from entities where table_id = %d for update", BY_CITY);
    ck_assert_int_eq(pthread_create(&thread, NULL, reconcile_r1, NULL), 0);
    await_workers_in_lock(1); /* the worker has read the source, and waits to write the entry */
    world_put(&world, "r1", "Rome", "z");
    test_sql(other, "rollback");
    pthread_join(thread, NULL);

    ck_assert_int_eq(world_intents(&world), 1);
    ck_assert_str_eq(
        test_text(world.sql, "select partition_key from entities where table_id = %d", BY_CITY), "Bonn");
    world_reconcile(&world, "r1");
    world_check(&world);
    PQfinish(other);
}
END_TEST

static const char *const tables_of_a_reconcile[] = { "entities", "index_state", "intents", "commit_markers" };

/* Guard G10: entries, manifest and intents are one commit; if any statement fails, nothing has changed. */
START_TEST(a_failure_anywhere_leaves_everything_as_it_was)
{
    const char *table = tables_of_a_reconcile[_i];
    struct intent message = world_message("r1");
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    world_put(&world, "r1", "Bonn", "x");
    test_sql(world.sql,
        "create function refuse() returns trigger language plpgsql as "
        "$$begin raise exception 'refused'; end$$;"
        "create trigger refuse before %s on %s for each row execute function refuse()",
        _i == 0 || _i == 3 ? "insert" : "update or delete", table);

    ck_assert_int_eq(reconcile_keys(world.worker, &message, 1, false, &counts, &err), STATUS_INTERNAL);

    ck_assert_int_eq(counts.keys + counts.entries_written + counts.intents_removed, 0);
    ck_assert_int_eq(world_intents(&world), 1);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 0);

    test_sql(world.sql, "drop trigger refuse on %s", table);
    world_reconcile(&world, "r1");
    world_check(&world);
}
END_TEST

/* The reconcile's commit does not wait for the disk; commits of writers do. */
START_TEST(a_crash_that_takes_a_reconcile_back_opens_its_intent_again)
{
    bool was_lost = false;

    for (int tries = 0; tries < 20 && !was_lost; tries++) {
        world_put(&world, "r1", tries % 2 ? "Bonn" : "Rome", "x");
        test_postgres_hold_log(world.sql);
        world_reconcile(&world, "r1");
        ck_assert_int_eq(world_intents(&world), 0);
        world_check(&world);

        world_crash(&world);
        was_lost = world_intents(&world) == 1;
        world_reconcile(&world, "r1");
        world_check(&world);
    }
    ck_assert(was_lost);
}
END_TEST

/* Guard G20: only reconciles may commit without waiting for the disk. */
START_TEST(what_a_worker_commits_afterwards_is_on_disk_with_all_before_it)
{
    struct intent other = world_message("r2");
    struct error cause, err = { 0 };
    int32_t failures = 0;

    world_put(&world, "r1", "Bonn", "x");
    world_put(&world, "r2", "Rome", "x");
    test_postgres_hold_log(world.sql);
    world_reconcile(&world, "r1");
    error_set(&cause, STATUS_INTERNAL, "refused");
    ck_assert_int_eq(
        dead_letter_work_count_failure(world.worker, &other, &cause, &failures, &err), STATUS_OK);

    world_crash(&world);
    ck_assert_int_eq(test_number(world.sql, "select failures from dead_letters"), 1);
    ck_assert_int_eq(world_intents(&world), 1);
    world_reconcile(&world, "r2");
    world_check(&world);
}
END_TEST

START_TEST(a_lost_connection_is_no_failure)
{
    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    world_put(&world, "r1", "Rome", "x");
    test_number(world.sql, "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                           "where datname = current_database() and application_name = 'tavola-worker'");

    world_reconcile(&world, "r1");

    world_check(&world);
}
END_TEST

enum { KEYS = 24, ROUNDS = 15 };

struct reconciler {
    struct worker *worker;
    bool backwards;
};

static void *reconcile_all_rounds(void *context)
{
    const struct reconciler *own = context;
    struct intent messages[KEYS];
    static const char *const rows[KEYS] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
        "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x" };

    for (size_t i = 0; i < KEYS; i++)
        messages[i] = world_message(rows[own->backwards ? KEYS - 1 - i : i]);
    for (int round = 0; round < ROUNDS; round++) {
        struct reconcile_counts counts = { 0 };
        struct error err = { 0 };

        ck_assert_msg(
            reconcile_keys(own->worker, messages, KEYS, true, &counts, &err) == STATUS_OK, "%s", err.message);
    }
    return NULL;
}

START_TEST(reconcilers_of_the_same_keys_do_not_deadlock)
{
    static const char *const cities[] = { "Bonn", "Rome", NULL, "Oslo" };
    struct reconciler there = { world_worker(&world, "there"), false };
    struct reconciler back = { world_worker(&world, "back"), true };
    PGconn *other = test_connect(world.conninfo);
    pthread_t threads[2];
    char row[2] = "a";

    /*
     * Both workers wait for a key in the middle: if locks were taken out of order, each would hold the lock that the
     * other needs next.
     */
    test_sql(other, "begin; insert into index_state values (%d, %d, 'p', 'l', 0, '')",
        world_message("l").bucket, TABLE_ID);
    ck_assert_int_eq(pthread_create(&threads[0], NULL, reconcile_all_rounds, &there), 0);
    ck_assert_int_eq(pthread_create(&threads[1], NULL, reconcile_all_rounds, &back), 0);
    await_workers_in_lock(2);
    test_sql(other, "rollback");
    for (size_t i = 0; i < 3 * KEYS; i++) {
        row[0] = (char)('a' + i % KEYS);
        world_put(&world, row, cities[(i / KEYS + i) % ARRAY_LEN(cities)], "x");
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    worker_close(there.worker);
    worker_close(back.worker);
    world_reconcile_all(&world);

    world_check(&world);
    test_await(world.sql,
        "select (count(*) <= 1)::int from pg_stat_activity where datname = current_database() "
        "and application_name = 'tavola-worker'");
    ck_assert_int_eq(
        test_number(world.sql, "select deadlocks from pg_stat_database where datname = current_database()"),
        0);
    PQfinish(other);
}
END_TEST

enum { LISTED = 2300 };

/* Each member of a list is a row of its own, so workers that add members at once overwrite nothing. */
START_TEST(members_that_two_workers_add_to_one_list_are_all_there)
{
    static struct key_part city = { .text = { "City", 4 } };
    struct reconciler there = { world_worker(&world, "there"), false };
    struct reconciler back = { world_worker(&world, "back"), true };
    pthread_t threads[2];
    char row[2] = "a";

    world_add_index(&world, LISTED,
        (struct index){ .shape = INDEX_LIST, .place = PLACE_OTHER_PARTITION, .partition_key = { &city, 1 } });
    for (int i = 0; i < KEYS; i++, row[0]++)
        world_put(&world, row, "Bonn", "x");
    ck_assert_int_eq(pthread_create(&threads[0], NULL, reconcile_all_rounds, &there), 0);
    ck_assert_int_eq(pthread_create(&threads[1], NULL, reconcile_all_rounds, &back), 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    worker_close(there.worker);
    worker_close(back.worker);

    ck_assert_int_eq(
        test_number(world.sql,
            "select count(*) from entities where table_id = %d and partition_key = 'Bonn' and not dead",
            LISTED),
        KEYS);
    world_check(&world);
}
END_TEST

/* Sources are not all held in memory: if they are large, a transaction takes only as many keys as fit. */
START_TEST(large_sources_are_taken_fewer_at_a_time)
{
    enum { LARGE = 300 };
    struct intent messages[LARGE];
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };
    static char note[60001], rows[LARGE][8];

    memset(note, 'n', sizeof(note) - 1);
    for (int i = 0; i < LARGE; i++) {
        snprintf(rows[i], sizeof(rows[i]), "r%03d", i);
        world_put(&world, rows[i], "Bonn", note);
        messages[i] = world_message(rows[i]);
    }

    ck_assert_int_eq(reconcile_keys(world.worker, messages, LARGE, false, &counts, &err), STATUS_OK);

    ck_assert_int_eq(counts.keys, LARGE);
    ck_assert_int_eq(counts.intents_removed, LARGE);
    ck_assert_int_ge(test_number(world.sql,
                         "select count(distinct xmin::text) from entities where table_id = %d", BY_CITY),
        2);
    world_check(&world);
}
END_TEST

/* A manifest that was changed by hand does not name the stored entry: the entry is overwritten. */
START_TEST(an_entry_that_no_manifest_names_is_written_over)
{
    world_put(&world, "r1", "Bonn", "x");
    world_reconcile(&world, "r1");
    test_sql(world.sql, "update index_state set manifest = ''");
    world_put(&world, "r1", "Bonn", "y");
    world_put(&world, "r2", "Rome", "x");

    world_reconcile_all(&world);

    ck_assert_int_eq(world_entries(&world, BY_CITY), 2);
    world_check(&world);
}
END_TEST

/* Another session holds the lock and stands still: that is reported as a timeout, not as a fault of the database. */
START_TEST(a_lock_held_by_another_transaction_is_a_timeout)
{
    PGconn *other = test_connect(world.conninfo);
    struct intent message = world_message("r1");
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    world_put(&world, "r1", "Bonn", "x");
    test_sql(
        other, "begin; insert into index_state values (%d, %d, 'p', 'r1', 0, '')", message.bucket, TABLE_ID);

    ck_assert_int_eq(reconcile_keys(world.worker, &message, 1, false, &counts, &err), STATUS_TIMEOUT);

    ck_assert_str_eq(err.sqlstate, "55P03");
    test_sql(other, "rollback");
    world_reconcile(&world, "r1");
    world_check(&world);
    PQfinish(other);
}
END_TEST

Suite *test_reconcile_suite(void)
{
    const char *given = getenv("TAVOLA_POSTGRES");
    Suite *suite = suite_create("reconcile");
    TCase *tc = tcase_create("reconcile");

    test_postgres_start();
    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_new_entity_gets_its_entry);
    tcase_add_test(tc, a_changed_value_moves_the_entry_and_moves_it_back);
    tcase_add_test(tc, an_entry_comes_and_goes_with_the_match_of_the_filter);
    tcase_add_test(tc, changes_that_came_together_are_one_reading);
    tcase_add_test(tc, a_deleted_entity_leaves_neither_entry_nor_state_and_comes_back);
    tcase_add_test(tc, duplicates_and_late_messages_do_nothing);
    tcase_add_test(tc, a_key_without_intents_beside_one_with_is_left_alone);
    tcase_add_test(tc, all_indexes_follow_and_sparse_ones_skip);
    tcase_add_test(tc, an_entry_is_not_written_again_while_its_content_stays);
    tcase_add_test(tc, a_worker_notices_an_index_that_was_made_meanwhile);
    tcase_add_test(tc, only_force_reconciles_keys_without_intents);
    tcase_add_test(tc, entries_of_an_index_being_dropped_are_left_to_the_drop);
    tcase_add_test(tc, a_table_that_is_gone_loses_its_intents_and_states);
    tcase_add_test(tc, a_violation_is_noted_and_goes_with_its_cause);
    tcase_add_test(tc, the_source_is_read_after_the_lock);
    tcase_add_test(tc, the_state_row_of_a_known_key_is_waited_for);
    tcase_add_test(tc, what_was_read_is_forgotten_with_the_locks);
    tcase_add_test(tc, an_intent_that_came_after_the_reading_stays);
    tcase_add_loop_test(
        tc, a_failure_anywhere_leaves_everything_as_it_was, 0, ARRAY_LEN(tables_of_a_reconcile));
    if (!given || !*given) { /* a server that was not started here must not be crashed */
        tcase_add_test(tc, a_crash_that_takes_a_reconcile_back_opens_its_intent_again);
        tcase_add_test(tc, what_a_worker_commits_afterwards_is_on_disk_with_all_before_it);
    }
    tcase_add_test(tc, a_lost_connection_is_no_failure);
    tcase_add_test(tc, members_that_two_workers_add_to_one_list_are_all_there);
    tcase_add_test(tc, large_sources_are_taken_fewer_at_a_time);
    tcase_add_test(tc, an_entry_that_no_manifest_names_is_written_over);
    tcase_add_test(tc, a_lock_held_by_another_transaction_is_a_timeout);
    tcase_add_test(tc, reconcilers_of_the_same_keys_do_not_deadlock);
    suite_add_tcase(suite, tc);
    return suite;
}
