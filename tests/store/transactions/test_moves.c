/* SPDX-License-Identifier: Apache-2.0 */
/* Moves: source and destination change in one commit, so no reader sees the entity twice or not at all. */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/calls.h"
#include "tests/support/transaction_calls.h"

enum { ARCHIVE_ID = 1001 };

static struct world world;

static void setup(void)
{
    world_open(&world);
    world_change(&world,
        "insert into tables (table_id, account, name, folded, created, live) "
        "values (%d, 'acme', 'Archive', 'archive', 1, true)",
        ARCHIVE_ID);
}

static void teardown(void)
{
    world_close(&world);
}

static struct operation *submit(const char *id, struct step *steps, size_t count)
{
    return transaction_submitted(&world.writer, &world.arena, NULL, id, steps, count);
}

static void write_value(const char *table, const char *row, const char *value)
{
    call_succeeded(
        call_write(&world.writer, &world.arena, WRITE_INSERT_OR_REPLACE, table, call_key("p", row), value));
}

static const char *value_at(const char *table, const char *partition, const char *row)
{
    return call_read(&world.writer, &world.arena, table, call_key(partition, row));
}

START_TEST(a_move_takes_everything_and_leaves_nothing)
{
    struct step steps[] = { step_move("People", "a", "Archive", "z") };
    struct transaction transaction;

    write_value("People", "a", "treasure");
    call_succeeded(
        call_write(&world.writer, &world.arena, WRITE_INSERT, "Archive", call_key("q", "z"), "overwritten"));
    call_succeeded(submit("t1", steps, 1));
    transaction_run(&world, "t1");

    transaction = transaction_seen(&world, "t1");
    ck_assert_int_eq(transaction.state, TRANSACTION_DONE);
    transaction_attempted(&transaction, 0, STATUS_OK, "");
    ck_assert_uint_gt(transaction.timeline[0].etag_after.len, 0);
    ck_assert_ptr_null(value_at("People", "p", "a"));
    ck_assert_str_eq(value_at("Archive", "q", "z"), "treasure");
}
END_TEST

START_TEST(a_move_of_nothing_is_done)
{
    struct step steps[] = { step_move("People", "a", "Archive", "z") };
    struct transaction transaction;

    call_succeeded(
        call_write(&world.writer, &world.arena, WRITE_INSERT, "Archive", call_key("q", "z"), "kept"));
    call_succeeded(submit("t1", steps, 1));
    transaction_run(&world, "t1");

    transaction = transaction_seen(&world, "t1");
    ck_assert_int_eq(transaction.state, TRANSACTION_DONE);
    transaction_attempted(&transaction, 0, STATUS_OK, "SOURCE_ABSENT");
    ck_assert_str_eq(value_at("Archive", "q", "z"), "kept");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities where row_key = 'a'"), 0);
}
END_TEST

START_TEST(a_move_whose_precondition_fails_moves_nothing)
{
    struct step steps[] = { step_move("People", "a", "Archive", "z") };

    write_value("People", "a", "kept");
    steps[0].condition =
        (struct condition){ .kind = CONDITION_MATCHES, .etag = { .table_id = TABLE_ID, .version = 999 } };
    call_succeeded(submit("t1", steps, 1));
    transaction_run(&world, "t1");

    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_FAILED);
    ck_assert_str_eq(value_at("People", "p", "a"), "kept");
    ck_assert_ptr_null(value_at("Archive", "q", "z"));
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from entities where table_id = %d", ARCHIVE_ID), 0);
}
END_TEST

START_TEST(a_move_makes_intents_for_both_ends)
{
    struct step steps[] = { step_move("People", "a", "People", "z") };

    world_index(&world, BY_NOTE, "Value", 0);
    write_value("People", "a", "x");
    world_reconcile(&world, "a");
    call_succeeded(submit("t1", steps, 1));
    transaction_run(&world, "t1");

    ck_assert_int_eq(world_intents(&world), 2);
}
END_TEST

struct hammer {
    pthread_t thread;
    atomic_int acknowledged; /* the last value that was replaced */
};

static void *replace_until_it_is_gone(void *argument)
{
    struct hammer *self = argument;
    struct session session;
    struct arena arena;

    arena_init(&arena);
    session_init(&session, world.conninfo, "test hammer");
    for (int n = 1;; n++) {
        char value[16];
        struct operation *operation;

        snprintf(value, sizeof(value), "%d", n);
        operation = call_write(&session, &arena, WRITE_REPLACE, "People", call_key("p", "a"), value);
        if (operation->status != STATUS_OK)
            break;
        atomic_store(&self->acknowledged, n);
        arena_cleanup(&arena);
    }
    session_cleanup(&session);
    arena_cleanup(&arena);
    return NULL;
}

/* Invariant I8: the destination has the last value of the source. */
START_TEST(a_move_loses_no_concurrent_update)
{
    for (int round = 0; round < 10; round++) {
        struct step steps[] = { step_move("People", "a", "Archive", "z") };
        struct hammer hammer = { .acknowledged = 0 };
        char id[16];

        snprintf(id, sizeof(id), "move-%d", round);
        write_value("People", "a", "0");
        call_succeeded(submit(id, steps, 1));
        pthread_create(&hammer.thread, NULL, replace_until_it_is_gone, &hammer);
        while (atomic_load(&hammer.acknowledged) < 5)
            sched_yield();
        transaction_run(&world, id);
        pthread_join(hammer.thread, NULL);

        ck_assert_int_eq(
            (int)strtol(value_at("Archive", "q", "z"), NULL, 10), atomic_load(&hammer.acknowledged));
        ck_assert_ptr_null(value_at("People", "p", "a"));
    }
}
END_TEST

Suite *test_moves_suite(void)
{
    Suite *suite = suite_create("moves");
    TCase *tc = tcase_create("moves");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_move_takes_everything_and_leaves_nothing);
    tcase_add_test(tc, a_move_of_nothing_is_done);
    tcase_add_test(tc, a_move_whose_precondition_fails_moves_nothing);
    tcase_add_test(tc, a_move_makes_intents_for_both_ends);
    tcase_add_test(tc, a_move_loses_no_concurrent_update);
    suite_add_tcase(suite, tc);
    return suite;
}
