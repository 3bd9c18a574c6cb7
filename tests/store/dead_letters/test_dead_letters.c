/* SPDX-License-Identifier: Apache-2.0 */
/* test_dead_letters.c - how operators handle dead letters: each is redriven or discarded, with one commit. */
#include <check.h>
#include <pthread.h>

#include "store/background/sweep.h"
#include "store/dead_letters/dead_letter_calls.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/indexes/reconcile.h"
#include "store/redrive_preview.h"
#include "store/transactions/transaction_calls.h"
#include "tests/support/calls.h"
#include "tests/support/transaction_calls.h"

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

/* ---- words ---- */

static void give_up(const struct intent *intent, const char *why)
{
    struct error cause = { 0 }, err = { 0 };
    int32_t failures;

    error_set(&cause, STATUS_INTERNAL, "%s", why);
    ck_assert_msg(dead_letter_work_count_failure(world.worker, intent, &cause, &failures, &err) == STATUS_OK,
        "%s", err.message);
    ck_assert_msg(dead_letter_work_bury(world.worker, intent, &err) == STATUS_OK, "%s", err.message);
}

static void give_up_row(const char *row, const char *why)
{
    struct intent intent = world_message(row);

    give_up(&intent, why);
}

static struct operation *dead_letters(enum operation_kind kind)
{
    struct operation *operation = call_make(&world.arena, kind, "");

    operation->in.dead_letters =
        (struct operation_dead_letters){ .filter = { .state = DEAD_LETTER_DEAD, .queue = -1, .queues = 4 },
            .limit = 100,
            .reason = STR_LITERAL("not wanted") };
    return operation;
}

static struct operation *run_on(struct session *session, struct operation *operation)
{
    if (operation->kind == OPERATION_DEAD_LETTERS_LIST)
        dead_letter_calls_list(session, operation);
    else if (operation->in.dead_letters.dry_run)
        redrive_preview_run(session, operation);
    else if (operation->kind == OPERATION_DEAD_LETTERS_REDRIVE)
        dead_letter_calls_redrive(session, operation);
    else
        dead_letter_calls_discard(session, operation);
    arena_cleanup(&session->arena);
    return operation;
}

static struct outcome_dead_letters *run(struct operation *operation)
{
    run_on(&world.writer, operation);
    call_succeeded(operation);
    return &operation->out.dead_letters;
}

static long long count(const char *what)
{
    return test_number(world.sql, "select count(*) from dead_letters where %s", what);
}

/* ---- lists ---- */

START_TEST(dead_letters_are_listed_with_cause_history_and_source)
{
    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "b", "Bonn", "x");
    give_up_row("a", "the disk is full");
    give_up_row("b", "it's broken");

    struct outcome_dead_letters *all = run(dead_letters(OPERATION_DEAD_LETTERS_LIST));
    ck_assert_uint_eq(all->count, 2);
    ck_assert(str_equal(all->dead_letters[0].cause, STR_LITERAL("INTERNAL: the disk is full")));
    ck_assert(str_equal(all->dead_letters[0].table, STR_LITERAL("People")));
    ck_assert(str_equal(all->dead_letters[0].account, STR_LITERAL("acme")));
    ck_assert(str_equal(all->dead_letters[1].key.row, STR_LITERAL("b")));
    ck_assert_int_eq(all->dead_letters[0].failures, 1);
    ck_assert_uint_gt(all->dead_letters[0].history.len, 0);

    struct operation *by_cause = dead_letters(OPERATION_DEAD_LETTERS_LIST);
    by_cause->in.dead_letters.by_cause = true;
    struct outcome_dead_letters *causes = run(by_cause);
    ck_assert_uint_eq(causes->cause_count, 1);
    ck_assert_int_eq(causes->causes[0].count, 2);
    ck_assert(str_equal(causes->causes[0].cause, STR_LITERAL("INTERNAL")));

    struct operation *page = dead_letters(OPERATION_DEAD_LETTERS_LIST);
    page->in.dead_letters.limit = 1;
    ck_assert(run(page)->more);
    page->in.dead_letters.after = page->out.dead_letters.position;
    ck_assert(
        str_equal(run(page)->dead_letters[0].key.row, STR_LITERAL("b")) && !page->out.dead_letters.more);
}
END_TEST

/* A transaction that cannot be worked on, for any reason, is counted and given up. */
START_TEST(a_key_whose_manifest_cannot_be_read_is_given_up)
{
    struct intent message = world_message("a");
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    world_put(&world, "a", "Bonn", "x");
    test_sql(
        world.sql, "insert into index_state values (%d, %d, 'p', 'a', 1, '\\x02')", message.bucket, TABLE_ID);
    ck_assert_int_eq(reconcile_keys(world.worker, &message, 1, false, &counts, &err), STATUS_INTERNAL);

    give_up_row("a", err.message);

    ck_assert_int_eq(count("dead and cause like '%manifest%'"), 1);
    ck_assert_int_eq(world_intents(&world), 0);
}
END_TEST

static const struct filter_case {
    const char *name;
    struct dead_letter_filter filter;
    size_t want;
} filter_cases[] = {
    { "its table, in any case", { .table = STR_LITERAL("PEOPLE") }, 1 },
    { "another table", { .table = STR_LITERAL("Things") }, 0 },
    { "its account", { .account = STR_LITERAL("acme") }, 1 },
    { "another account", { .account = STR_LITERAL("other") }, 0 },
    { "its kind", { .kind = INTENT_RECONCILE }, 1 },
    { "another kind", { .kind = INTENT_TRANSACTION }, 0 },
    { "how its cause begins", { .cause = STR_LITERAL("INTERNAL: it's") }, 1 },
    { "another cause", { .cause = STR_LITERAL("it's") }, 0 },
    { "another state", { .state = DEAD_LETTER_RETRYING }, 0 },
};

START_TEST(filters_mean_some)
{
    const struct filter_case *c = &filter_cases[_i];
    struct operation *list = dead_letters(OPERATION_DEAD_LETTERS_LIST);

    world_put(&world, "a", "Bonn", "x");
    give_up_row("a", "it's broken");
    list->in.dead_letters.filter = c->filter;
    list->in.dead_letters.filter.queue = -1;
    if (c->filter.state == 0)
        list->in.dead_letters.filter.state = DEAD_LETTER_DEAD;

    ck_assert_msg(run(list)->count == c->want, "%s", c->name);
}
END_TEST

START_TEST(a_queue_is_a_share_of_the_buckets)
{
    size_t found = 0;

    world_put(&world, "a", "Bonn", "x");
    give_up_row("a", "it's broken");
    for (int32_t queue = 0; queue < 4; queue++) {
        struct operation *list = dead_letters(OPERATION_DEAD_LETTERS_LIST);

        list->in.dead_letters.filter.queue = queue;
        if (run(list)->count == 1) {
            found++;
            ck_assert_int_eq(world_message("a").bucket % 4, queue);
        }
    }
    ck_assert_uint_eq(found, 1);
}
END_TEST

/* ---- redrive ---- */

START_TEST(a_redriven_key_is_open_and_its_success_ends_the_dead_letter)
{
    world_put(&world, "a", "Bonn", "x");
    give_up_row("a", "the disk is full");
    ck_assert_int_eq(world_intents(&world), 0);

    struct outcome_dead_letters *first = run(dead_letters(OPERATION_DEAD_LETTERS_REDRIVE));
    struct outcome_dead_letters *again = run(dead_letters(OPERATION_DEAD_LETTERS_REDRIVE));

    ck_assert_uint_eq(first->count, 1);
    ck_assert_uint_eq(again->count, 0);
    ck_assert_int_eq(world_intents(&world), 1);
    ck_assert_int_eq(count("not dead and failures = 0 and history like '%%disk is full%%redriven%%'"), 1);
    world_reconcile_all(&world);
    ck_assert_int_eq(count("true"), 0);
    ck_assert_int_eq(world_entries(&world, BY_CITY), 1);
    world_check(&world);
}
END_TEST

/* The redriven work reads the newest state, so later writes are not undone (guard G8). */
START_TEST(a_redrive_undoes_nothing)
{
    world_put(&world, "a", "Bonn", "x");
    give_up_row("a", "the disk is full");
    world_put(&world, "a", "Rome", "x");
    world_put(&world, "b", "Oslo", "x");
    run(dead_letters(OPERATION_DEAD_LETTERS_REDRIVE));

    world_reconcile_all(&world);

    ck_assert_int_eq(count("true"), 0);
    world_check(&world);
}
END_TEST

START_TEST(a_dry_run_tells_and_changes_nothing)
{
    struct operation *dry = dead_letters(OPERATION_DEAD_LETTERS_REDRIVE);

    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "b", "Bonn", "x");
    world_put(&world, "c", "Bonn", "x");
    world_reconcile_all(&world);
    world_put(&world, "a", "Rome", "x"); /* one entry more, one entry less */
    world_put(&world, "b", "Bonn", "y"); /* another content */
    world_delete(&world, "c");
    give_up_row("a", "x");
    give_up_row("b", "x");
    give_up_row("c", "x");
    dry->in.dead_letters.dry_run = true;

    struct outcome_dead_letters *out = run(dry);

    ck_assert_uint_eq(out->count, 3);
    const struct dead_letter_difference *a = &out->differences[0], *b = &out->differences[1],
                                        *c = &out->differences[2];
    ck_assert(a->missing == 1 && a->dangling == 1 && a->mismatched == 0);
    ck_assert(b->missing == 0 && b->dangling == 0 && b->mismatched == 1);
    ck_assert(c->missing == 0 && c->dangling == 1 && c->mismatched == 0);
    ck_assert_int_eq(world_intents(&world), 0);
    ck_assert_int_eq(count("dead"), 3);
}
END_TEST

START_TEST(a_failure_between_leaves_the_dead_letter_as_it_was)
{
    world_put(&world, "a", "Bonn", "x");
    give_up_row("a", "the disk is full");
    test_sql(world.sql, "create function refuse() returns trigger language plpgsql as "
                        "$$ begin raise 'no room' using errcode = '53100'; end $$;"
                        "create trigger refuse before insert on intents execute function refuse()");

    ck_assert_int_ne(run_on(&world.writer, dead_letters(OPERATION_DEAD_LETTERS_REDRIVE))->status, STATUS_OK);

    ck_assert_int_eq(count("dead and history not like '%%redriven%%'"), 1);
    ck_assert_int_eq(world_intents(&world), 0);
    test_sql(world.sql, "drop trigger refuse on intents");
    ck_assert_uint_eq(run(dead_letters(OPERATION_DEAD_LETTERS_REDRIVE))->count, 1);
}
END_TEST

struct redriver {
    pthread_t thread;
    size_t done;
};

static void *redrive_all(void *argument)
{
    struct redriver *self = argument;
    struct session session;
    struct arena arena;
    struct operation *operation;

    arena_init(&arena);
    session_init(&session, world.conninfo, "test redriver");
    operation = call_make(&arena, OPERATION_DEAD_LETTERS_REDRIVE, "");
    operation->in.dead_letters =
        (struct operation_dead_letters){ .filter = { .state = DEAD_LETTER_DEAD, .queue = -1, .queues = 1 },
            .limit = 1000 };
    run_on(&session, operation);
    self->done = operation->status == STATUS_OK ? operation->out.dead_letters.count : 0;
    session_cleanup(&session);
    arena_cleanup(&arena);
    return NULL;
}

/* Each dead letter is redriven once, by either caller: there are as many intents as dead letters. */
START_TEST(two_concurrent_redrives_share_the_dead_letters)
{
    struct redriver two[2];

    for (int i = 0; i < 40; i++) {
        const char *row = arena_format(&world.arena, "r%d", i).data;

        world_put(&world, row, "Bonn", "x");
        give_up_row(row, "x");
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&two[i].thread, NULL, redrive_all, &two[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(two[i].thread, NULL);

    ck_assert_uint_eq(two[0].done + two[1].done, 40);
    ck_assert_int_eq(world_intents(&world), 40);
    world_reconcile_all(&world);
    ck_assert_int_eq(count("true"), 0);
    world_check(&world);
}
END_TEST

static struct intent give_up_transaction(size_t steps_done)
{
    struct step steps[] = { step_put(&world.arena, "People", "x", "1"),
        step_put(&world.arena, "People", "y", "1") };
    struct intent intent = { .bucket = transaction_calls_bucket(STR_LITERAL("t1")),
        .kind = INTENT_TRANSACTION,
        .key = { STR_LITERAL("acme"), STR_LITERAL("t1") } };

    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, "t1", steps, 2));
    for (size_t i = 0; i < steps_done; i++)
        transaction_step(world.worker, "t1");
    give_up(&intent, "the disk is full");
    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DEAD);
    return intent;
}

START_TEST(a_redriven_transaction_goes_on_where_it_stood)
{
    struct operation *dry = dead_letters(OPERATION_DEAD_LETTERS_REDRIVE);

    give_up_transaction(1);
    dry->in.dead_letters.dry_run = true;
    dry->in.dead_letters.filter.kind = INTENT_TRANSACTION;
    ck_assert_int_eq(run(dry)->differences[0].steps, 1);

    ck_assert_uint_eq(run(dead_letters(OPERATION_DEAD_LETTERS_REDRIVE))->count, 1);
    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_RUNNING);
    transaction_run(&world, "t1");

    struct transaction seen = transaction_seen(&world, "t1");
    ck_assert_int_eq(seen.state, TRANSACTION_DONE);
    ck_assert_uint_eq(seen.attempt_count, 3); /* the first step once */
    ck_assert_int_eq(count("kind = 2"), 0);
}
END_TEST

/* ---- discard ---- */

START_TEST(a_discarded_dead_letter_is_kept_until_a_later_success)
{
    world_put(&world, "a", "Bonn", "x");
    give_up_row("a", "the disk is full");

    ck_assert_uint_eq(run(dead_letters(OPERATION_DEAD_LETTERS_DISCARD))->count, 1);
    ck_assert_uint_eq(run(dead_letters(OPERATION_DEAD_LETTERS_DISCARD))->count, 0);
    ck_assert_uint_eq(run(dead_letters(OPERATION_DEAD_LETTERS_LIST))->count, 0);
    ck_assert_int_eq(count("dead and discarded and note = 'not wanted'"), 1);

    struct operation *redrive = dead_letters(OPERATION_DEAD_LETTERS_REDRIVE);
    redrive->in.dead_letters.filter.state = DEAD_LETTER_DISCARDED;
    ck_assert_uint_eq(run(redrive)->count, 1); /* a discard can be undone by a redrive */
    give_up_row("a", "again");
    run(dead_letters(OPERATION_DEAD_LETTERS_DISCARD));

    world_put(&world, "a", "Rome", "x");
    world_reconcile_all(&world);
    ck_assert_int_eq(count("true"), 0);
    world_check(&world);
}
END_TEST

START_TEST(a_discarded_transaction_is_forgotten_in_time)
{
    const struct sweep_ages ages = { .dead_row_s = 3600, .transaction_s = 3600, .request_s = 3600 };
    struct sweep_counts counts = { 0 };
    struct error err = { 0 };
    bool more;

    give_up_transaction(0);
    ck_assert_uint_eq(run(dead_letters(OPERATION_DEAD_LETTERS_DISCARD))->count, 1);
    ck_assert_int_eq(transaction_seen(&world, "t1").state, TRANSACTION_DEAD);
    test_sql(world.sql, "update transactions set finished = 1 where finished > 0");

    ck_assert_int_eq(sweep_run(world.worker, &ages, &counts, &more, &err), STATUS_OK);

    ck_assert_int_eq(counts.transactions, 1);
    ck_assert_int_eq(count("true"), 0);
}
END_TEST

Suite *test_dead_letters_suite(void)
{
    Suite *suite = suite_create("dead_letters");
    TCase *tc = tcase_create("dead_letters");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_key_whose_manifest_cannot_be_read_is_given_up);
    tcase_add_test(tc, dead_letters_are_listed_with_cause_history_and_source);
    tcase_add_loop_test(tc, filters_mean_some, 0, ARRAY_LEN(filter_cases));
    tcase_add_test(tc, a_queue_is_a_share_of_the_buckets);
    tcase_add_test(tc, a_redriven_key_is_open_and_its_success_ends_the_dead_letter);
    tcase_add_test(tc, a_redrive_undoes_nothing);
    tcase_add_test(tc, a_dry_run_tells_and_changes_nothing);
    tcase_add_test(tc, a_failure_between_leaves_the_dead_letter_as_it_was);
    tcase_add_test(tc, two_concurrent_redrives_share_the_dead_letters);
    tcase_add_test(tc, a_redriven_transaction_goes_on_where_it_stood);
    tcase_add_test(tc, a_discarded_dead_letter_is_kept_until_a_later_success);
    tcase_add_test(tc, a_discarded_transaction_is_forgotten_in_time);
    suite_add_tcase(suite, tc);
    return suite;
}
