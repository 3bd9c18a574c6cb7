/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transaction_life.c - what callers read of transactions, and what ends them early: cancelling, the timeline of
 * failures, lists by state and by key, other accounts.
 */
#include <check.h>
#include <pthread.h>

#include "store/background/sweep.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/transactions/transaction_calls.h"
#include "tests/support/calls.h"
#include "tests/support/transaction_calls.h"

static struct world world;

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

static void submit(const char *id, struct step *steps, size_t count)
{
    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, id, steps, count));
}

static struct operation *cancel_on(struct session *session, struct arena *arena, const char *id)
{
    struct operation *operation = call_make(arena, OPERATION_TRANSACTION_CANCEL, "");

    operation->in.transaction.transaction.id = str_of(id);
    transaction_calls_cancel(session, operation);
    arena_cleanup(&session->arena);
    return operation;
}

static struct operation *cancel(const char *id)
{
    return cancel_on(&world.writer, &world.arena, id);
}

static const char *value_at(const char *row)
{
    return call_read(&world.writer, &world.arena, "People", call_key("p", row));
}

/* ---- cancelling ---- */

START_TEST(a_cancelled_transaction_never_runs)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1") };

    submit("t1", steps, 1);
    struct operation *first = cancel("t1");
    struct operation *again = cancel("t1");

    call_succeeded(first);
    ck_assert_int_eq(first->out.transaction.transactions[0].state, TRANSACTION_CANCELLED);
    call_succeeded(again);
    ck_assert_int_eq(world_intents(&world), 0);
    ck_assert(transaction_step(world.worker, "t1")); /* a message that comes too late */
    ck_assert_ptr_null(value_at("a"));
    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_CANCELLED);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from transactions where finished > 0"), 1);
}
END_TEST

START_TEST(what_has_begun_or_ended_is_not_cancelled)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1"),
        step_put(&world.arena, "People", "b", "2") };

    submit("t1", steps, 2);
    transaction_step(world.worker, "t1");
    call_failed(cancel("t1"), "TRANSACTION_STARTED");
    transaction_run(&world, "t1");
    call_failed(cancel("t1"), "TRANSACTION_STARTED");
    call_failed(cancel("none"), "TRANSACTION_NOT_FOUND");

    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DONE);
    ck_assert_str_eq(value_at("b"), "2");
}
END_TEST

struct canceller {
    pthread_t thread;
    pthread_barrier_t *start;
    int cancelled;
};

enum { RACES = 30 };

static void *cancel_many(void *argument)
{
    struct canceller *self = argument;
    struct session session;
    struct arena arena;

    arena_init(&arena);
    session_init(&session, world.conninfo, "test canceller");
    for (int i = 0; i < RACES; i++) {
        const char *id = arena_format(&arena, "race-%d", i).data;

        pthread_barrier_wait(self->start);
        if (cancel_on(&session, &arena, id)->status == STATUS_OK)
            self->cancelled++;
        pthread_barrier_wait(self->start);
    }
    session_cleanup(&session);
    arena_cleanup(&arena);
    return NULL;
}

/*
 * The first session with the row's lock decides: cancelled means that nothing was written, refused means that it was
 * (guard G14).
 */
START_TEST(a_cancel_that_meets_the_worker_is_all_or_nothing)
{
    pthread_barrier_t start;
    struct canceller canceller = { .start = &start };
    int done = 0;

    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < RACES; i++) {
        struct step steps[] = { step_put(
            &world.arena, "People", arena_format(&world.arena, "row-%d", i).data, "1") };

        submit(arena_format(&world.arena, "race-%d", i).data, steps, 1);
    }
    pthread_create(&canceller.thread, NULL, cancel_many, &canceller);
    for (int i = 0; i < RACES; i++) {
        const char *id = arena_format(&world.arena, "race-%d", i).data;

        pthread_barrier_wait(&start);
        transaction_step(world.worker, id);
        pthread_barrier_wait(&start);
        bool written = value_at(arena_format(&world.arena, "row-%d", i).data) != NULL;
        ck_assert_int_eq(
            transaction_seen(&world, id).state, written ? TRANSACTION_DONE : TRANSACTION_CANCELLED);
        done += written;
    }
    pthread_join(canceller.thread, NULL);
    pthread_barrier_destroy(&start);

    ck_assert_int_eq(canceller.cancelled + done, RACES);
    ck_assert_int_eq(world_intents(&world), 0);
}
END_TEST

/* ---- the timeline ---- */

static struct intent message(const char *id)
{
    return (struct intent){ .bucket = transaction_calls_bucket(str_of(id)),
        .kind = INTENT_TRANSACTION,
        .key = { STR_LITERAL("acme"), str_of(id) } };
}

static void fail_once(const char *id, const char *why)
{
    struct intent intent = message(id);
    struct error cause = { 0 }, err = { 0 };
    int32_t failures = 0;

    error_set(&cause, STATUS_INTERNAL, "%s", why);
    ck_assert_msg(dead_letter_work_count_failure(world.worker, &intent, &cause, &failures, &err) == STATUS_OK,
        "%s", err.message);
}

START_TEST(the_timeline_shows_attempts_that_failed)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1"),
        step_put(&world.arena, "People", "a", "2") };
    struct transaction seen;

    submit("t1", steps, 2);
    fail_once("t1", "the disk is full");
    int64_t revision = transaction_seen(&world, "t1").revision;
    fail_once("t1", "the disk is full");
    ck_assert_int_gt(transaction_seen(&world, "t1").revision, revision);
    transaction_run(&world, "t1");

    seen = transaction_seen(&world, "t1");
    ck_assert_uint_eq(seen.attempt_count, 4);
    transaction_attempted(&seen, 0, STATUS_INTERNAL, "INTERNAL");
    ck_assert(str_equal(seen.timeline[0].message, STR_LITERAL("the disk is full")));
    ck_assert(str_equal(seen.timeline[1].worker, STR_LITERAL("worker-1")));
    ck_assert_int_eq(seen.timeline[1].number, 2);
    ck_assert_int_ge(seen.timeline[1].ended, seen.timeline[1].started);
    transaction_attempted(&seen, 2, STATUS_OK, "");
    ck_assert_int_eq(seen.timeline[2].number, 3);
    ck_assert_int_eq(seen.timeline[3].step, 1);
    ck_assert_int_eq(seen.timeline[3].number, 1);
    ck_assert(str_equal(seen.timeline[3].etag_before, seen.timeline[2].etag_after));
}
END_TEST

/* ---- lists ---- */

static struct operation *list(enum transaction_state only, const char *row, int limit, const char *after)
{
    struct operation *operation = call_make(&world.arena, OPERATION_TRANSACTION_LIST, "");
    struct operation_transaction *in = &operation->in.transaction;
    struct entity_key key = call_key("p", row ? row : "");

    in->limit = limit;
    in->after = str_of(after);
    in->only = only;
    in->by_key = row != NULL;
    in->key_digest = transaction_key_digest(operation->account, STR_EMPTY, STR_LITERAL("PEOPLE"), &key);
    transaction_calls_list(&world.writer, operation);
    arena_cleanup(&world.writer.arena);
    call_succeeded(operation);
    return operation;
}

static void lists(struct operation *operation, const char *ids)
{
    struct buf out;

    buf_init(&out, &world.arena);
    for (size_t i = 0; i < operation->out.transaction.count; i++)
        buf_format(&out, "%.*s ", STR_ARG(operation->out.transaction.transactions[i].id));
    ck_assert_msg(str_equal(buf_str(&out), str_of(ids)), "got %.*s", STR_ARG(buf_str(&out)));
}

START_TEST(lists_by_state_and_by_touched_key)
{
    struct step a[] = { step_put(&world.arena, "People", "a", "1") };
    struct step both[] = { step_delete("People", "b"), step_put(&world.arena, "people", "a", "1") };
    struct step b[] = { step_delete("People", "b") };

    submit("t1", a, 1);
    submit("t2", both, 2);
    submit("t3", b, 1);
    submit("t4", a, 1);
    transaction_run(&world, "t2");
    call_succeeded(cancel("t4"));

    lists(list(0, NULL, 10, ""), "t1 t2 t3 t4 ");
    lists(list(TRANSACTION_PENDING, NULL, 10, ""), "t1 t3 ");
    lists(list(TRANSACTION_PENDING, NULL, 10, "t1"), "t3 ");
    lists(list(0, "a", 10, ""), "t1 t2 t4 ");
    lists(list(0, "a", 2, ""), "t1 t2 ");
    ck_assert(list(0, "a", 2, "")->out.transaction.more);
    lists(list(0, "b", 10, ""), "t2 t3 ");
    lists(list(TRANSACTION_CANCELLED, "a", 10, ""), "t4 ");
    lists(list(0, "c", 10, ""), "");
}
END_TEST

START_TEST(what_is_noted_of_keys_goes_with_the_transaction)
{
    struct step steps[] = { step_put(&world.arena, "People", "a", "1"),
        step_move("People", "a", "People", "b") };
    const struct sweep_ages ages = { .dead_row_s = 3600, .transaction_s = 3600, .request_s = 3600 };
    struct sweep_counts counts = { 0 };
    struct error err = { 0 };
    bool more;

    submit("t1", steps, 2);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from transaction_keys"), 2);
    transaction_run(&world, "t1");
    test_sql(world.sql, "update transactions set finished = 1");

    ck_assert_int_eq(sweep_run(world.worker, &ages, &counts, &more, &err), STATUS_OK);
    ck_assert_int_eq(counts.transactions, 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from transaction_keys"), 0);
}
END_TEST

/* ---- other accounts ---- */

START_TEST(a_step_reaches_into_the_account_it_names)
{
    struct step steps[] = { step_put(&world.arena, "Theirs", "a", "1"),
        step_put(&world.arena, "People", "b", "2") };

    world_change(&world, "insert into tables (table_id, account, name, folded, created, live) "
                         "values (3000, 'other', 'Theirs', 'theirs', 1, true)");
    steps[0].account = STR_LITERAL("other");
    submit("t1", steps, 2);
    transaction_run(&world, "t1");

    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DONE);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities where table_id = 3000"), 1);
    ck_assert_str_eq(value_at("b"), "2");
}
END_TEST

Suite *test_transaction_life_suite(void)
{
    Suite *suite = suite_create("transaction_life");
    TCase *tc = tcase_create("transaction_life");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_cancelled_transaction_never_runs);
    tcase_add_test(tc, what_has_begun_or_ended_is_not_cancelled);
    tcase_add_test(tc, a_cancel_that_meets_the_worker_is_all_or_nothing);
    tcase_add_test(tc, the_timeline_shows_attempts_that_failed);
    tcase_add_test(tc, lists_by_state_and_by_touched_key);
    tcase_add_test(tc, what_is_noted_of_keys_goes_with_the_transaction);
    tcase_add_test(tc, a_step_reaches_into_the_account_it_names);
    suite_add_tcase(suite, tc);
    return suite;
}
