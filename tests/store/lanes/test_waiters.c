/* SPDX-License-Identifier: Apache-2.0 */
/* test_waiters.c - how often the database is asked about operations that wait for an event. */
#include <check.h>

#include "base/clock.h"
#include "store/lanes/waiters.h"
#include "store/session/session.h"
#include "tests/support/builders.h"

enum { SHORT_US = 50000, LONG_US = 250000, DEADLINE_US = 60000000 };

static struct scene scene;
static struct session session;
static struct waiters waiters;

static void setup(void)
{
    struct error err = { 0 };

    scene_open(&scene);
    session_init(&session, scene.conninfo, "test");
    ck_assert_int_eq(session_ensure(&session, &err), STATUS_OK);
    waiters_init(&waiters, 1000);
    test_sql(scene.sql,
        "insert into operations (operation_id, account, kind, target, state, started, table_id) "
        "values ('purge-1', 'acme', 'delete_table', 'Things', 1, 1, 1)");
    test_sql(scene.sql, "insert into feeds select 7, table_id from tables where name = 'Things'; "
                        "update tables set feed_id = 7 where name = 'Things'");
}

static void teardown(void)
{
    waiters_stop(&waiters);
    waiters_take(&waiters, &session, WAITERS_ALL);
    waiters_cleanup(&waiters);
    session_cleanup(&session);
    scene_close(&scene);
}

static void add_wait_for_job(void)
{
    struct operation *wait = an_operation(&scene.arena, OPERATION_JOB_WAIT, "");

    wait->in.jobs.operation_id = STR_LITERAL("purge-1");
    ck_assert(waiters_add(&waiters, wait));
}

static void add_wait_for_changes(void)
{
    struct operation *wait = an_operation(&scene.arena, OPERATION_CHANGES_WAIT, "");

    wait->in.changes.position.feed_id = 7;
    wait->in.changes.wait_until_us = INT64_MAX;
    ck_assert(waiters_add(&waiters, wait));
}

/* Ask once, when the database must be asked. Returns the time, of this moment, until it must be asked again. */
static int64_t ask(void)
{
    ck_assert_ptr_null(waiters_take(&waiters, &session, WAITERS_NEW_AND_DECIDED));
    while (waiters_due_us(&waiters) > clock_monotonic_us())
        waiters_pause(&waiters, 1);
    ck_assert_ptr_null(waiters_take(&waiters, &session, WAITERS_DECIDED));
    return waiters_due_us(&waiters) - clock_monotonic_us();
}

START_TEST(a_wait_that_lasts_is_asked_about_less_often)
{
    int64_t until_us = clock_monotonic_us() + DEADLINE_US, pause_us = 0;

    add_wait_for_job();
    while (pause_us <= 2 * SHORT_US) {
        ck_assert_msg(clock_monotonic_us() < until_us, "asked after %lld us still", (long long)pause_us);
        pause_us = ask();
        ck_assert_int_le(pause_us, LONG_US);
    }
}
END_TEST

START_TEST(a_watch_is_always_asked_about_within_50_ms)
{
    int64_t until_us = clock_monotonic_us() + 10 * SHORT_US;

    add_wait_for_changes();
    while (clock_monotonic_us() < until_us)
        ck_assert_int_le(ask(), SHORT_US);
}
END_TEST

/* Those that were added at different times, too. */
START_TEST(all_waits_are_asked_about_at_the_same_moments)
{
    for (int i = 0; i < 10; i++) {
        add_wait_for_changes();
        add_wait_for_job();
        ask();
        ck_assert_int_eq(waiters_due_us(&waiters) % SHORT_US, 0);
    }
}
END_TEST

Suite *test_waiters_suite(void)
{
    Suite *suite = suite_create("waiters");
    TCase *tc = tcase_create("waiters");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_wait_that_lasts_is_asked_about_less_often);
    tcase_add_test(tc, a_watch_is_always_asked_about_within_50_ms);
    tcase_add_test(tc, all_waits_are_asked_about_at_the_same_moments);
    suite_add_tcase(suite, tc);
    return suite;
}
