/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions: submitted once, carried out step by step, with each step's effect and record in one commit. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>

#include "store/dead_letters/dead_letter_work.h"
#include "store/transactions/transaction_calls.h"
#include "tests/support/calls.h"
#include "tests/support/transaction_calls.h"
#include "tests/support/worker_world.h"

static struct world world;
static struct intent handed_out[16];
static size_t handed_out_count;

static void keep(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count && handed_out_count < ARRAY_LEN(handed_out); i++)
        handed_out[handed_out_count++] = intents[i];
}

static void setup(void)
{
    handed_out_count = 0;
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

/* ---- words ---- */

static struct operation *submit(const char *id, struct step *steps, size_t count)
{
    struct commit_observer observer = { .intents_committed = keep };

    return transaction_submitted(&world.writer, &world.arena, &observer, id, steps, count);
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

static long long open_intents(enum intent_kind kind)
{
    return test_number(world.sql, "select count(*) from intents where kind = %d", kind);
}

/* ---- submitting ---- */

START_TEST(a_repeated_submission_is_the_same_transaction)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1"),
        step_put(&world.arena, "People", "b", "2") };
    struct operation *first = submit("t1", steps, 2);
    struct operation *again = submit("t1", steps, 2);
    char id[INTENT_ID_TEXT_BYTES];

    call_succeeded(first);
    ck_assert_int_eq(first->out.transaction.transactions[0].state, TRANSACTION_PENDING);
    call_succeeded(again);
    ck_assert_int_eq(
        again->out.transaction.transactions[0].submitted, first->out.transaction.transactions[0].submitted);
    ck_assert_uint_eq(handed_out_count, 1);
    ck_assert_int_eq(handed_out[0].kind, INTENT_TRANSACTION);
    ck_assert_int_eq(open_intents(INTENT_TRANSACTION), 1);
    ck_assert_str_eq(test_text(world.sql, "select replace(id::text, '-', '') from intents"),
        intent_id_format(handed_out[0].id, id));
}
END_TEST

START_TEST(other_steps_under_the_same_id_are_refused)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1") },
                others[] = { step_put(&world.arena, "People", "a", "2") };

    call_succeeded(submit("t1", steps, 1));
    call_failed(submit("t1", others, 1), "TRANSACTION_ID_REUSED");

    transaction_run(&world, "t1");
    call_failed(submit("t1", others, 1), "TRANSACTION_ID_REUSED");
    ck_assert_str_eq(value_at("People", "p", "a"), "1");
}
END_TEST

START_TEST(names_of_tables_in_another_case_are_the_same_steps)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1") },
                again[] = { step_put(&world.arena, "PEOPLE", "a", "1") };

    call_succeeded(submit("t1", steps, 1));
    call_succeeded(submit("t1", again, 1));
    ck_assert_int_eq(open_intents(INTENT_TRANSACTION), 1);
}
END_TEST

START_TEST(bad_steps_are_refused)
{
    call_failed(submit("t1", NULL, 0), "INVALID_INPUT");
    ck_assert_int_eq(open_intents(INTENT_TRANSACTION), 0);
}
END_TEST

struct submitter {
    pthread_t thread;
    pthread_barrier_t *start;
    const char *value;
    int accepted, refused;
};

static void *submit_many(void *argument)
{
    struct submitter *self = argument;
    struct session session;
    struct arena arena;

    arena_init(&arena);
    session_init(&session, world.conninfo, "test submitter");
    for (int i = 0; i < 20; i++) {
        char id[16];
        struct step steps[] = { { .kind = STEP_INSERT_OR_REPLACE,
            .table = STR_LITERAL("People"),
            .key = call_key("p", "a"),
            .properties = call_value(&arena, self->value) } };
        struct operation *operation;

        snprintf(id, sizeof(id), "race-%d", i);
        pthread_barrier_wait(self->start);
        operation = transaction_submitted(&session, &arena, NULL, id, steps, 1);
        if (operation->status == STATUS_OK)
            self->accepted++;
        else if (strcmp(operation->error->reason, "TRANSACTION_ID_REUSED") == 0)
            self->refused++;
    }
    session_cleanup(&session);
    arena_cleanup(&arena);
    return NULL;
}

START_TEST(of_two_submissions_at_once_one_wins)
{
    pthread_barrier_t start;
    struct submitter two[] = { { .start = &start, .value = "x" }, { .start = &start, .value = "y" } };

    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&two[i].thread, NULL, submit_many, &two[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(two[i].thread, NULL);

    ck_assert_int_eq(two[0].accepted + two[1].accepted, 20);
    ck_assert_int_eq(two[0].refused + two[1].refused, 20);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from transactions"), 20);
    ck_assert_int_eq(open_intents(INTENT_TRANSACTION), 20);
    pthread_barrier_destroy(&start);
}
END_TEST

START_TEST(transactions_are_listed_by_id)
{
    const char *const ids[] = { "c", "a", "b" };
    struct step steps[] = { step_put(&world.arena, "People", "a", "1") };
    struct operation *list = call_make(&world.arena, OPERATION_TRANSACTION_LIST, "");
    struct operation *missing = call_make(&world.arena, OPERATION_TRANSACTION_GET, "");

    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        call_succeeded(submit(ids[i], steps, 1));
    list->in.transaction.limit = 2;
    transaction_calls_list(&world.writer, list);
    call_succeeded(list);
    ck_assert_uint_eq(list->out.transaction.count, 2);
    ck_assert(list->out.transaction.more);
    ck_assert(str_equal(list->out.transaction.position, STR_LITERAL("b")));

    list->in.transaction.after = STR_LITERAL("b");
    transaction_calls_list(&world.writer, list);
    ck_assert_uint_eq(list->out.transaction.count, 1);
    ck_assert(!list->out.transaction.more);
    ck_assert(str_equal(list->out.transaction.transactions[0].id, STR_LITERAL("c")));

    missing->in.transaction.transaction.id = STR_LITERAL("nobody");
    transaction_calls_get(&world.writer, missing);
    call_failed(missing, "TRANSACTION_NOT_FOUND");
}
END_TEST

/* ---- steps ---- */

START_TEST(steps_are_done_in_order_by_any_worker)
{
    struct step merge = { .kind = STEP_INSERT_OR_MERGE,
        .table = STR_LITERAL("People"),
        .key = call_key("p", "a"),
        .properties = call_value(&world.arena, "2") };
    struct step steps[] = { step_put(&world.arena, "People", "a", "1"), merge, step_delete("People", "b"),
        step_delete("People", "none") };
    struct worker *other = world_worker(&world, "worker-2");
    struct transaction transaction;

    write_value("People", "b", "old");
    call_succeeded(submit("t1", steps, 4));
    ck_assert(!transaction_step(world.worker, "t1"));
    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_RUNNING);
    ck_assert_str_eq(value_at("People", "p", "a"), "1");

    ck_assert(!transaction_step(other, "t1"));
    ck_assert(!transaction_step(other, "t1"));
    ck_assert(transaction_step(other, "t1"));

    transaction = transaction_seen(&world, "t1");
    ck_assert_int_eq(transaction.state, TRANSACTION_DONE);
    ck_assert_int_eq(transaction.steps_done, 4);
    ck_assert_uint_eq(transaction.attempt_count, 4);
    ck_assert(str_equal(transaction.timeline[0].worker, STR_LITERAL("worker-1")));
    ck_assert(str_equal(transaction.timeline[1].worker, STR_LITERAL("worker-2")));
    ck_assert_uint_eq(transaction.timeline[0].etag_before.len, 0);
    ck_assert(str_equal(transaction.timeline[1].etag_before, transaction.timeline[0].etag_after));
    ck_assert_int_gt(test_number(world.sql, "select finished from transactions"), 0);
    ck_assert_str_eq(value_at("People", "p", "a"), "2");
    ck_assert_ptr_null(value_at("People", "p", "b"));
    ck_assert_int_eq(open_intents(INTENT_TRANSACTION), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities where row_key = 'none'"), 0);
    worker_close(other);
}
END_TEST

START_TEST(steps_make_intents_for_indexes)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "Rome") };

    world_index(&world, BY_NOTE, "Value", 0);
    worker_observe(world.worker, keep, NULL);
    call_succeeded(submit("t1", steps, 1));
    handed_out_count = 0;
    transaction_run(&world, "t1");

    ck_assert_uint_eq(handed_out_count, 1);
    ck_assert_int_eq(handed_out[0].kind, INTENT_RECONCILE);
    ck_assert_int_eq(open_intents(INTENT_RECONCILE), 1);
    world_reconcile(&world, "a");
    world_check(&world);
    ck_assert_int_eq(world_entries(&world, BY_NOTE), 1);
}
END_TEST

START_TEST(a_failed_precondition_ends_the_transaction)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1"),
        step_put(&world.arena, "People", "b", "2"), step_put(&world.arena, "People", "c", "3") };
    struct transaction transaction;

    write_value("People", "b", "kept");
    steps[1].condition =
        (struct condition){ .kind = CONDITION_MATCHES, .etag = { .table_id = TABLE_ID, .version = 999 } };
    call_succeeded(submit("t1", steps, 3));
    transaction_run(&world, "t1");

    transaction = transaction_seen(&world, "t1");
    ck_assert_int_eq(transaction.state, TRANSACTION_FAILED);
    ck_assert_int_eq(transaction.steps_done, 1);
    transaction_attempted(&transaction, 0, STATUS_OK, "");
    transaction_attempted(&transaction, 1, STATUS_STALE, "UPDATE_CONDITION_NOT_SATISFIED");
    ck_assert_str_eq(value_at("People", "p", "a"), "1");
    ck_assert_str_eq(value_at("People", "p", "b"), "kept");
    ck_assert_ptr_null(value_at("People", "p", "c"));
    ck_assert_int_eq(open_intents(INTENT_TRANSACTION), 0);
}
END_TEST

static const struct condition preconditions[] = {
    { .kind = CONDITION_EXISTS },
    { .kind = CONDITION_MATCHES, .etag = { .table_id = TABLE_ID, .version = 1 } },
    { .text = STR_LITERAL("Value eq 'x'") },
};

/* One rule for all kinds: a step that requires an entity which is absent fails, and the transaction with it. */
START_TEST(any_precondition_on_an_absent_entity_fails)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1"), step_delete("People", "a"),
        step_move("People", "a", "People", "z") };
    struct transaction transaction;
    struct step two[2];

    two[0] = steps[(size_t)_i % ARRAY_LEN(steps)];
    two[0].condition = preconditions[(size_t)_i / ARRAY_LEN(steps)];
    two[1] = step_put(&world.arena, "People", "later", "2");
    call_succeeded(submit("t1", two, 2));
    transaction_run(&world, "t1");

    transaction = transaction_seen(&world, "t1");
    ck_assert_int_eq(transaction.state, TRANSACTION_FAILED);
    ck_assert_int_eq(transaction.steps_done, 0);
    transaction_attempted(&transaction, 0, STATUS_NOT_FOUND, "RESOURCE_NOT_FOUND");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities"), 0);
    ck_assert_int_eq(open_intents(INTENT_TRANSACTION), 0);
}
END_TEST

/*
 * A step's effect and its mark are one commit: a precondition that the step itself has made false is not tested
 * again.
 */
START_TEST(a_precondition_is_not_asked_again_of_a_step_that_is_done)
{
    struct step deletes[] = { step_delete("People", "a"), step_put(&world.arena, "People", "later", "2") };
    struct step moves[] = { step_move("People", "a", "People", "z"),
        step_put(&world.arena, "People", "later", "2") };
    struct transaction transaction;

    write_value("People", "a", "x");
    deletes[0].condition = moves[0].condition = (struct condition){ .kind = CONDITION_EXISTS };
    call_succeeded(submit("t1", _i == 0 ? deletes : moves, 2));
    ck_assert(!transaction_step(world.worker, "t1"));
    ck_assert(transaction_step(world.worker, "t1"));
    ck_assert(transaction_step(world.worker, "t1"));

    transaction = transaction_seen(&world, "t1");
    ck_assert_int_eq(transaction.state, TRANSACTION_DONE);
    ck_assert_uint_eq(transaction.attempt_count, 2);
    ck_assert_ptr_null(value_at("People", "p", "a"));
    ck_assert_str_eq(value_at("People", "p", "later"), "2");
}
END_TEST

static const struct refusal {
    const char *table, *reason;
    enum status status;
} refusals[] = {
    { "Nowhere", "TABLE_NOT_FOUND", STATUS_NOT_FOUND },
    { "PeopleBy2001", "INDEX_OWNED", STATUS_PRECONDITION },
};

START_TEST(steps_on_tables_that_cannot_be_written_are_refused)
{
    const struct refusal *c = &refusals[_i];
    struct step puts[] = { step_put(&world.arena, "People", "a", "1"),
        step_put(&world.arena, c->table, "a", "1") };
    struct step moves[] = { step_move("People", "a", c->table, "a") };
    struct operation *refused;

    world_index(&world, BY_NOTE, "Note", 0);
    refused = submit("t1", puts, 2);
    call_failed(refused, c->reason);
    ck_assert_int_eq(refused->status, c->status);
    ck_assert_str_eq(refused->error->field, "steps[1]");
    call_failed(submit("t2", moves, 1), c->reason);

    ck_assert_int_eq(open_intents(INTENT_TRANSACTION), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from transactions"), 0);
}
END_TEST

START_TEST(steps_on_tables_that_have_gone_since_fail)
{
    struct step steps[] = { step_put(&world.arena, "Staff", "a", "1") };
    struct step moves[] = { step_move("People", "a", "Staff", "a") };
    struct transaction transaction;

    world_change(&world, "insert into tables values (900, 'acme', 'Staff', 'staff', 1, true)");
    write_value("People", "a", "kept");
    call_succeeded(submit("t1", steps, 1));
    call_succeeded(submit("t2", moves, 1));
    world_change(&world, "update tables set live = false where name = 'Staff'");
    call_succeeded(submit("t1", steps, 1));
    transaction_run(&world, "t1");
    transaction_run(&world, "t2");

    for (int i = 1; i <= 2; i++) {
        transaction = transaction_seen(&world, i == 1 ? "t1" : "t2");
        ck_assert_int_eq(transaction.state, TRANSACTION_FAILED);
        transaction_attempted(&transaction, 0, STATUS_NOT_FOUND, "TABLE_NOT_FOUND");
    }
    ck_assert_str_eq(value_at("People", "p", "a"), "kept");
}
END_TEST

START_TEST(a_lost_connection_loses_nothing)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1"),
        step_put(&world.arena, "People", "b", "2"), step_put(&world.arena, "People", "c", "3") };

    call_succeeded(submit("t1", steps, 3));
    ck_assert(!transaction_step(world.worker, "t1"));
    test_sql(world.sql, "select pg_terminate_backend(pid) from pg_stat_activity "
                        "where application_name = 'tavola-worker' and datname = current_database()");
    transaction_run(&world, "t1");

    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DONE);
    ck_assert_uint_eq(transaction_seen(&world, "t1").attempt_count, 3);
    ck_assert_str_eq(value_at("People", "p", "c"), "3");
}
END_TEST

/* Guard G14. */
START_TEST(a_message_that_comes_again_overwrites_nothing)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "step"),
        step_put(&world.arena, "People", "b", "step") };

    call_succeeded(submit("t1", steps, 2));
    ck_assert(!transaction_step(world.worker, "t1"));
    write_value("People", "a", "client");
    ck_assert(transaction_step(world.worker, "t1"));
    write_value("People", "b", "client");
    for (int i = 0; i < 3; i++)
        ck_assert(transaction_step(world.worker, "t1"));

    ck_assert_str_eq(value_at("People", "p", "a"), "client");
    ck_assert_str_eq(value_at("People", "p", "b"), "client");
    ck_assert_uint_eq(transaction_seen(&world, "t1").attempt_count, 2);
}
END_TEST

START_TEST(a_step_that_succeeds_ends_what_was_counted_against_it)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1"),
        step_put(&world.arena, "People", "b", "2") };
    struct intent intent = { .kind = INTENT_TRANSACTION,
        .bucket = entity_key_bucket(0, STR_LITERAL("t1")),
        .key = { STR_LITERAL("acme"), STR_LITERAL("t1") } };
    struct error cause = { 0 }, err = { 0 };
    int32_t failures = 0;

    call_succeeded(submit("t1", steps, 2));
    error_set(&cause, STATUS_INTERNAL, "broken");
    ck_assert_msg(dead_letter_work_count_failure(world.worker, &intent, &cause, &failures, &err) == STATUS_OK,
        "%s", err.message);
    ck_assert_int_eq(failures, 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters where kind = 2"), 1);

    ck_assert(!transaction_step(world.worker, "t1"));

    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
}
END_TEST

START_TEST(an_unknown_transaction_is_finished)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1") };

    call_succeeded(submit("t1", steps, 1));
    test_sql(world.sql, "delete from transactions");

    ck_assert(transaction_step(world.worker, "t1"));
    ck_assert_int_eq(open_intents(INTENT_TRANSACTION), 0);
}
END_TEST

struct stepper {
    pthread_t thread;
    const char *name;
};

static void *step_to_the_end(void *argument)
{
    struct stepper *self = argument;
    struct worker *worker = world_worker(&world, self->name);

    while (!transaction_step(worker, "t1"))
        continue;
    worker_close(worker);
    return NULL;
}

/* Each of 40 steps adds one version to the same entity: no step is left out, and none is done twice. */
START_TEST(two_workers_at_once_do_every_step_once) /* guard G14 */
{
    struct step steps[40];
    struct stepper two[] = { { .name = "worker-2" }, { .name = "worker-3" } };
    struct transaction transaction;

    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        steps[i] = step_put(&world.arena, "People", "a", arena_format(&world.arena, "%zu", i).data);
    call_succeeded(submit("t1", steps, ARRAY_LEN(steps)));
    for (int i = 0; i < 2; i++)
        pthread_create(&two[i].thread, NULL, step_to_the_end, &two[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(two[i].thread, NULL);

    transaction = transaction_seen(&world, "t1");
    ck_assert_int_eq(transaction.state, TRANSACTION_DONE);
    ck_assert_uint_eq(transaction.attempt_count, ARRAY_LEN(steps));
    ck_assert_int_eq(test_number(world.sql, "select version from entities where row_key = 'a'"), 40);
    ck_assert_str_eq(value_at("People", "p", "a"), "39");
}
END_TEST

/* The session with the row's lock decides; a worker that comes later sees the decision and does nothing. */
START_TEST(a_step_waits_for_the_lock_on_the_transaction) /* guard G14 */
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1") };
    struct stepper later = { .name = "worker-2" };
    PGconn *decider = test_connect(world.conninfo);

    call_succeeded(submit("t1", steps, 1));
    test_sql(decider, "begin");
    test_sql(decider, "update transactions set state = %d", TRANSACTION_CANCELLED);
    pthread_create(&later.thread, NULL, step_to_the_end, &later);
    test_await(world.sql, "select count(*) from pg_stat_activity where datname = current_database() and "
                          "wait_event_type = 'Lock'");
    test_sql(decider, "commit");
    pthread_join(later.thread, NULL);
    PQfinish(decider);

    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_CANCELLED);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities where row_key = 'a'"), 0);
}
END_TEST

Suite *test_transactions_suite(void)
{
    Suite *suite = suite_create("transactions");
    TCase *tc = tcase_create("transactions");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_repeated_submission_is_the_same_transaction);
    tcase_add_test(tc, other_steps_under_the_same_id_are_refused);
    tcase_add_test(tc, names_of_tables_in_another_case_are_the_same_steps);
    tcase_add_test(tc, bad_steps_are_refused);
    tcase_add_test(tc, of_two_submissions_at_once_one_wins);
    tcase_add_test(tc, transactions_are_listed_by_id);
    tcase_add_test(tc, steps_are_done_in_order_by_any_worker);
    tcase_add_test(tc, steps_make_intents_for_indexes);
    tcase_add_test(tc, a_failed_precondition_ends_the_transaction);
    tcase_add_loop_test(tc, any_precondition_on_an_absent_entity_fails, 0, 3 * (int)ARRAY_LEN(preconditions));
    tcase_add_loop_test(tc, a_precondition_is_not_asked_again_of_a_step_that_is_done, 0, 2);
    tcase_add_test(tc, steps_on_tables_that_have_gone_since_fail);
    tcase_add_loop_test(tc, steps_on_tables_that_cannot_be_written_are_refused, 0, ARRAY_LEN(refusals));
    tcase_add_test(tc, a_lost_connection_loses_nothing);
    tcase_add_test(tc, a_message_that_comes_again_overwrites_nothing);
    tcase_add_test(tc, a_step_that_succeeds_ends_what_was_counted_against_it);
    tcase_add_test(tc, an_unknown_transaction_is_finished);
    tcase_add_test(tc, two_workers_at_once_do_every_step_once);
    tcase_add_test(tc, a_step_waits_for_the_lock_on_the_transaction);
    suite_add_tcase(suite, tc);
    return suite;
}
