/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_quotas.c - an account has at most as many tables and indexes as it may have, also when several sessions create
 * them at once.
 */
#include <check.h>
#include <pthread.h>

#include "store/catalogue/table_calls.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

enum { CREATORS = 4 };

static struct world world;

/* A session that creates a table of its own. */
struct creator {
    pthread_t thread;
    struct session session;
    struct arena arena;
    struct operation *operation;
};

static struct creator creators[CREATORS];

static void setup(void)
{
    world_open(&world);
}

static void teardown(void)
{
    world_close(&world);
}

static struct operation *made(const char *name)
{
    return call_run(&world.writer, table_calls_create, call_make(&world.arena, OPERATION_TABLE_CREATE, name));
}

/* World's own table is the first. */
START_TEST(a_table_too_many_is_refused)
{
    world.writer.quotas.tables = 2;
    call_succeeded(made("Second"));
    call_failed(made("Third"), "QUOTA_EXCEEDED");
    call_succeeded(call_run(
        &world.writer, table_calls_delete, call_make(&world.arena, OPERATION_TABLE_DELETE, "Second")));
    call_succeeded(made("Third"));
}
END_TEST

START_TEST(an_index_too_many_is_refused)
{
    world.writer.quotas = (struct quotas){ .tables = 1, .indexes = 1 };
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    call_failed(index_created(&world, "ByOther", "People", 0), "QUOTA_EXCEEDED");
    call_succeeded(index_dropped(&world, "ByCity"));
    call_succeeded(index_created(&world, "ByOther", "People", 0));
    call_failed(made("Second"), "QUOTA_EXCEEDED"); /* tables of entries do not count, and People does */
}
END_TEST

static void *create_in_thread(void *argument)
{
    struct creator *creator = argument;

    table_calls_create(&creator->session, creator->operation);
    return NULL;
}

START_TEST(sessions_that_create_at_once_do_not_pass_the_quota)
{
    PGconn *observer =
        test_connect(world.conninfo); /* what one transaction sees of others' activity stays as it is */
    int created = 0;

    for (int i = 0; i < CREATORS; i++) {
        struct creator *creator = &creators[i];

        arena_init(&creator->arena);
        session_init(&creator->session, world.conninfo, "test creator");
        creator->session.quotas.tables = 2;
        creator->operation = call_make(
            &creator->arena, OPERATION_TABLE_CREATE, arena_format(&creator->arena, "Other%d", i).data);
    }
    test_sql(world.sql, "begin; select from catalogue for update"); /* all insert before one goes on */
    for (int i = 0; i < CREATORS; i++)
        ck_assert_int_eq(pthread_create(&creators[i].thread, NULL, create_in_thread, &creators[i]), 0);
    test_await(observer,
        "select (count(*) = %d)::int from pg_stat_activity where wait_event_type = 'Lock' and "
        "application_name like 'test creator%%'",
        CREATORS);
    test_sql(world.sql, "commit");
    for (int i = 0; i < CREATORS; i++) {
        ck_assert_int_eq(pthread_join(creators[i].thread, NULL), 0);
        created += creators[i].operation->status == STATUS_OK;
        session_cleanup(&creators[i].session);
        arena_cleanup(&creators[i].arena);
    }
    PQfinish(observer);
    ck_assert_int_eq(created, 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from tables where live"), 2);
}
END_TEST

Suite *test_quotas_suite(void)
{
    Suite *suite = suite_create("quotas");
    TCase *tc = tcase_create("quotas");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_table_too_many_is_refused);
    tcase_add_test(tc, an_index_too_many_is_refused);
    tcase_add_test(tc, sessions_that_create_at_once_do_not_pass_the_quota);
    suite_add_tcase(suite, tc);
    return suite;
}
