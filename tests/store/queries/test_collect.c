/* SPDX-License-Identifier: Apache-2.0 */
/* test_collect.c - operations that are collected first and then run by the thread that has collected them. */
#include <check.h>

#include "store/store.h"
#include "tests/support/builders.h"

enum {
    ROUNDS = 200,
    LARGE = 61, /* operations of one batch: enough for two statements, and an odd number */
};

static struct scene scene;
static PGconn *holder; /* of a lock, until it commits */

static void setup(void)
{
    scene_open(&scene);
    holder = test_connect(scene.conninfo);
    scene_write(&scene, a_write(WRITE_INSERT, "p", "a", some_texts(&scene.arena, "Text", "x", NULL)));
}

static void teardown(void)
{
    PQfinish(holder);
    scene_close(&scene);
}

static struct operation *collect_get(const char *table, const char *row)
{
    struct entity_key key = a_key("p", row);
    struct operation *operation = a_get(&scene.arena, table, &key, 1);

    store_collect(scene.store, operation);
    return operation;
}

START_TEST(collected_operations_get_their_outcomes)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct operation *there = collect_get("Things", "a"), *missing = collect_get("Things", "b"),
                         *unknown = i % 10 == 0 ? collect_get("Nothing", "a") : NULL;

        store_run(scene.store);
        await(there);
        await(missing);
        ck_assert_reason(there, "OK");
        ck_assert(there->out.get.found[0] && !missing->out.get.found[0]);
        if (unknown) {
            await(unknown);
            ck_assert_reason(unknown, "TABLE_NOT_FOUND");
        }
    }
}
END_TEST

START_TEST(a_session_that_was_lent_serves_its_thread_too)
{
    struct entity_key key = a_key("p", "a");

    for (int i = 0; i < ROUNDS; i++) {
        struct operation *here = collect_get("Things", "a"), *there;

        store_run(scene.store);
        await(here);
        there = a_get(&scene.arena, "Things", &key, 1);
        submit(scene.store, there);
        await(there);
        ck_assert(here->out.get.found[0] && there->out.get.found[0]);
    }
}
END_TEST

/* Every third entity exists. */
static void collect_many(struct operation *many[LARGE])
{
    for (int i = 0; i < LARGE; i++)
        many[i] = collect_get("Things", i % 3 == 0 ? "a" : "b");
    store_run(scene.store);
}

static void check_many(struct operation *many[LARGE])
{
    for (int i = 0; i < LARGE; i++) {
        await(many[i]);
        ck_assert_reason(many[i], "OK");
        ck_assert_int_eq(many[i]->out.get.found[0], i % 3 == 0);
    }
}

START_TEST(a_large_batch_is_answered_part_by_part)
{
    struct operation *many[LARGE];

    for (int i = 0; i < ROUNDS / 10; i++) {
        collect_many(many);
        check_many(many);
    }
}
END_TEST

START_TEST(a_large_batch_survives_a_stall_and_a_lost_connection)
{
    struct operation *many[LARGE];

    scene_read(&scene, "p", "a"); /* the session is connected */
    test_sql(holder, "begin; lock table entities in access exclusive mode");
    collect_many(many);
    ck_assert(!is_answered(many[0]) && !is_answered(many[LARGE - 1]));
    test_sql(holder, "commit");
    check_many(many);
    test_sql(holder, "begin; lock table entities in access exclusive mode");
    collect_many(many);
    test_sql(scene.sql, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where "
                        "application_name = 'tavolad read'");
    test_sql(holder, "commit");
    check_many(many);
}
END_TEST

START_TEST(a_large_batch_sees_a_table_that_is_new)
{
    struct operation *many[LARGE];

    collect_many(many);
    check_many(many);
    scene_table(&scene, "More"); /* the reading session does not know it yet */
    collect_many(many);
    check_many(many);
}
END_TEST

/* Ask for a row LARGE - 1 times and last for one that cannot be read. */
static void collect_with_an_unreadable_row(struct operation **many)
{
    for (int i = 0; i < LARGE; i++)
        many[i] = collect_get("Things", i < LARGE - 1 ? "a" : "unreadable");
    store_run(scene.store);
    for (int i = 0; i < LARGE; i++)
        await(many[i]);
}

/*
 * The last row cannot be read: the rows of the first statement are kept, and only the operations of the same
 * statement fail. If the session was still at work when the batch came, the batch is one statement: then again.
 */
START_TEST(a_large_batch_whose_second_part_fails_keeps_the_first)
{
    struct operation *many[LARGE];

    scene_write(
        &scene, a_write(WRITE_INSERT, "p", "unreadable", some_texts(&scene.arena, "Text", "x", NULL)));
    scene_read(&scene, "p", "a"); /* the session is connected */
    test_sql(scene.sql, "update entities set expires = 42 where row_key = 'unreadable'");
    test_sql(scene.sql,
        "create or replace function is_due(expires bigint) returns boolean language plpgsql as $$ "
        "begin if expires = 42 then raise 'unreadable'; end if; return false; end $$");
    for (int round = 0; round < ROUNDS; round++) {
        collect_with_an_unreadable_row(many);
        if (!many[0]->error)
            break;
    }

    for (int i = 0; i < LARGE; i++)
        ck_assert_reason(many[i], i <= LARGE / 2 ? "OK" : "INTERNAL_ERROR");
    collect_many(many);
    check_many(many);
}
END_TEST

START_TEST(one_key_and_many_give_the_same)
{
    struct operation *first = collect_get("Things", "a"), *second;

    store_run(scene.store);
    await(first);
    collect_get("Things", "b");
    second = collect_get("Things", "a");
    store_run(scene.store);
    await(second);
    ck_assert(first->out.get.found[0] && second->out.get.found[0]);
    ck_assert(etag_equal(first->out.get.entities[0].etag, second->out.get.entities[0].etag));
    ck_assert(
        str_equal(first->out.get.entities[0].properties.bytes, second->out.get.entities[0].properties.bytes));
}
END_TEST

START_TEST(a_stalled_database_does_not_block_the_collecting_thread)
{
    struct operation *stalled, *behind;

    scene_read(&scene, "p", "a"); /* the session is connected */
    test_sql(holder, "begin; lock table entities in access exclusive mode");
    stalled = collect_get("Things", "a");
    store_run(scene.store);
    behind = collect_get("Things", "a");
    store_run(scene.store);
    ck_assert(!is_answered(stalled) && !is_answered(behind));

    test_sql(holder, "commit");
    await(stalled);
    await(behind);
    ck_assert_reason(stalled, "OK");
    ck_assert_reason(behind, "OK");
}
END_TEST

/*
 * The first round loses no connection: a connection that breaks while it is made is only made again a moment later.
 */
START_TEST(a_lost_connection_is_replaced)
{
    for (int i = 0; i < 4; i++) {
        struct operation *operation;

        if (i > 0)
            test_sql(scene.sql, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where "
                                "application_name = 'tavolad read'");
        operation = collect_get("Things", "a");
        store_run(scene.store);
        await(operation);
        ck_assert_reason(operation, "OK");
    }
}
END_TEST

START_TEST(closing_answers_what_was_collected)
{
    struct store_options options = plain_options(scene.conninfo);
    struct store *store = store_open(&options);
    struct entity_key key = a_key("p", "a");
    struct operation *operation = a_get(&scene.arena, "Things", &key, 1);

    store_collect(store, operation);
    store_close(store);
    ck_assert(is_answered(operation));
}
END_TEST

Suite *test_collect_suite(void)
{
    Suite *suite = suite_create("collect");
    TCase *tc = tcase_create("collect");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, collected_operations_get_their_outcomes);
    tcase_add_test(tc, a_session_that_was_lent_serves_its_thread_too);
    tcase_add_test(tc, a_large_batch_is_answered_part_by_part);
    tcase_add_test(tc, a_large_batch_survives_a_stall_and_a_lost_connection);
    tcase_add_test(tc, a_large_batch_sees_a_table_that_is_new);
    tcase_add_test(tc, a_large_batch_whose_second_part_fails_keeps_the_first);
    tcase_add_test(tc, one_key_and_many_give_the_same);
    tcase_add_test(tc, a_stalled_database_does_not_block_the_collecting_thread);
    tcase_add_test(tc, a_lost_connection_is_replaced);
    tcase_add_test(tc, closing_answers_what_was_collected);
    suite_add_tcase(suite, tc);
    return suite;
}
