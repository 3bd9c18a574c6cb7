/* SPDX-License-Identifier: Apache-2.0 */
/* Steps belong to the tables that had their names when the transaction was submitted, never to later ones. */
#include <check.h>

#include "base/clock.h"
#include "base/digits.h"
#include "store/transactions/transaction_calls.h"
#include "tests/support/calls.h"
#include "tests/support/transaction_calls.h"

enum { ARCHIVE_ID = 1001, OTHERS_ID = 1002, FIRST_NEW_ID = 1100 };

static struct world world;

static void make_table(int id, const char *account, const char *name, const char *folded)
{
    world_change(&world,
        "insert into tables (table_id, account, name, folded, created, live) values (%d, '%s', '%s', '%s', "
        "%lld, true)",
        id, account, name, folded, (long long)clock_ticks());
}

static void setup(void)
{
    world_open(&world);
    make_table(ARCHIVE_ID, "acme", "Archive", "archive");
    make_table(OTHERS_ID, "other", "People", "people");
}

static void teardown(void)
{
    world_close(&world);
}

/* ---- words ---- */

static struct operation *submit(const char *id, struct step *step)
{
    return transaction_submitted(&world.writer, &world.arena, NULL, id, step, 1);
}

/* Another table gets the name afterwards; callers that use the name later reach that one. */
static void make_anew(int id)
{
    world_change(&world, "update tables set live = false where table_id = %d", id);
    world_change(&world,
        "insert into tables (table_id, account, name, folded, created, live) "
        "select table_id - 1000 + %d, account, name, folded, %lld, true from tables where table_id = %d",
        FIRST_NEW_ID, (long long)clock_ticks(), id);
}

static void put(const char *table, const char *row, const char *value)
{
    call_succeeded(
        call_write(&world.writer, &world.arena, WRITE_INSERT_OR_REPLACE, table, call_key("p", row), value));
}

static const char *value_at(const char *table, const char *partition, const char *row)
{
    return call_read(&world.writer, &world.arena, table, call_key(partition, row));
}

static long long rows_in(int id)
{
    return test_number(world.sql, "select count(*) from entities where table_id = %d and not dead", id);
}

/* ---- */

static struct step put_elsewhere(void)
{
    struct step step = step_put(&world.arena, "People", "a", "late");

    step.account = STR_LITERAL("other");
    return step;
}

static struct step put_here(void)
{
    return step_put(&world.arena, "people", "a", "late");
}

static struct step remove_here(void)
{
    return step_delete("PEOPLE", "a");
}

static struct step move_away(void)
{
    return step_move("People", "a", "Archive", "z");
}

static const struct incarnation_case {
    struct step (*step)(void);
    int remade; /* the table */
} cases[] = {
    { put_here, TABLE_ID },
    { remove_here, TABLE_ID },
    { move_away, TABLE_ID },
    { move_away, ARCHIVE_ID },
    { put_elsewhere, OTHERS_ID },
};

/* Guard G24. */
START_TEST(a_step_does_nothing_in_a_later_table_of_its_name)
{
    const struct incarnation_case *c = &cases[_i];
    struct step step = c->step();
    struct transaction transaction;

    put("People", "a", "early");
    call_succeeded(submit("t1", &step));
    make_anew(c->remade);
    put("People", "a", "new");
    transaction_run(&world, "t1");

    transaction = transaction_seen(&world, "t1");
    ck_assert_int_eq(transaction.state, TRANSACTION_FAILED);
    transaction_attempted(&transaction, 0, STATUS_NOT_FOUND, "TABLE_NOT_FOUND");
    ck_assert_str_eq(value_at("People", "p", "a"), "new");
    ck_assert_int_eq(rows_in(OTHERS_ID - 1000 + FIRST_NEW_ID) + rows_in(ARCHIVE_ID - 1000 + FIRST_NEW_ID), 0);
}
END_TEST

START_TEST(a_step_of_a_table_that_stays_is_done)
{
    struct step step = move_away();

    put("People", "a", "early");
    call_succeeded(submit("t1", &step));
    transaction_run(&world, "t1");
    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DONE);
    ck_assert_str_eq(value_at("Archive", "q", "z"), "early");
}
END_TEST

/* A repeat returns the state of the first submission; its steps are bound to no later table. */
START_TEST(a_repeat_after_a_table_was_made_anew_is_the_same_transaction)
{
    struct step first = put_here(), again = put_here();

    call_succeeded(submit("t1", &first));
    make_anew(TABLE_ID);
    call_succeeded(submit("t1", &again));
    transaction_run(&world, "t1");
    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_FAILED);
    call_succeeded(submit("t1", &again));
}
END_TEST

/* A row as earlier versions stored it, without the tables' ids. */
START_TEST(steps_without_ids_run_by_name)
{
    struct step step = put_here();
    struct str bytes = transaction_encode_steps(&step, 1, &world.arena);
    struct buf hex;

    call_succeeded(submit("t1", &step));
    buf_init(&hex, &world.arena);
    digits_encode_hex(bytes, buf_extend(&hex, 2 * bytes.len));
    test_sql(world.sql, "update transactions set steps = '\\x%.*s'", STR_ARG(buf_str(&hex)));
    make_anew(TABLE_ID);
    transaction_run(&world, "t1");

    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DONE);
    ck_assert_str_eq(value_at("People", "p", "a"), "late");
}
END_TEST

START_TEST(a_signature_for_an_earlier_table_submits_nothing_for_this_one)
{
    struct operation *operation = call_make(&world.arena, OPERATION_TRANSACTION_SUBMIT, "");
    const struct commit_observer ignored = { 0 };
    struct step step = put_here();

    operation->signed_at = clock_ticks();
    operation->in.transaction.transaction = (struct transaction){
        .id = STR_LITERAL("t1"), .account = operation->account, .steps = &step, .step_count = 1
    };
    make_anew(TABLE_ID);
    transaction_calls_submit(&world.writer, operation, &ignored);
    arena_cleanup(&world.writer.arena);
    call_failed(operation, "AUTHORIZATION_FAILURE");
}
END_TEST

Suite *test_incarnations_suite(void)
{
    Suite *suite = suite_create("incarnations");
    TCase *tc = tcase_create("incarnations");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_step_does_nothing_in_a_later_table_of_its_name, 0, ARRAY_LEN(cases));
    tcase_add_test(tc, a_step_of_a_table_that_stays_is_done);
    tcase_add_test(tc, a_repeat_after_a_table_was_made_anew_is_the_same_transaction);
    tcase_add_test(tc, steps_without_ids_run_by_name);
    tcase_add_test(tc, a_signature_for_an_earlier_table_submits_nothing_for_this_one);
    suite_add_tcase(suite, tc);
    return suite;
}
