/* SPDX-License-Identifier: Apache-2.0 */
/* test_unit_of_work.c - after which failures an attempt is repeated, and on which connection. */
#include <check.h>

#include "domain/reason.h"
#include "store/session/unit_of_work.h"
#include "store/sql.h"
#include "tests/support/builders.h"

enum { MAX_ATTEMPTS = 4 };

static struct scene scene;
static struct session session;

/* Fails with the given error, a given number of times; counts its attempts. */
struct failing_work {
    enum status status; /* STATUS_OK: never fails */
    enum reason reason; /* counts if has_reason */
    bool has_reason;
    bool breaks; /* the connection breaks too */
    bool is_given_up;
    int failures;
    int attempts;
};

static enum status attempt(struct session *on, void *context, struct error *err)
{
    struct failing_work *work = context;
    PG_RESULT begun = NULL;

    ck_assert(pg_is_open(&on->pg));
    ck_assert(!pg_in_transaction(&on->pg));
    ck_assert_ptr_nonnull(on->catalogue);
    TRY(pg_query(&on->pg, &sql_begin, NULL, &begun, err));
    if (work->attempts++ >= work->failures) {
        pg_recover(&on->pg);
        return STATUS_OK;
    }
    if (work->breaks)
        pg_close(&on->pg);
    return work->has_reason ? reason_set(err, work->reason, "as told")
                            : error_set(err, work->status, "as told");
}

static bool is_given_up(const void *context)
{
    return ((const struct failing_work *)context)->is_given_up;
}

static bool is_always(const struct error *err)
{
    (void)err;
    return true;
}

static enum status run_unit(struct failing_work *work, bool (*is_temporary)(const struct error *err))
{
    const struct unit_of_work unit = { .attempt = attempt,
        .context = work,
        .max_attempts = MAX_ATTEMPTS,
        .is_temporary = is_temporary,
        .is_given_up = is_given_up };
    struct error err = { 0 };
    enum status status = unit_of_work_run(&session, &unit, &err);

    ck_assert_int_eq(status, err.status);
    ck_assert(!pg_in_transaction(&session.pg));
    return status;
}

static void setup(void)
{
    scene_open(&scene);
    session_init(&session, scene.conninfo, "test worker");
}

static void teardown(void)
{
    session_cleanup(&session);
    scene_close(&scene);
}

START_TEST(a_temporary_failure_is_followed_by_another_attempt)
{
    struct failing_work work = { .status = STATUS_UNAVAILABLE, .failures = 2 };

    ck_assert_int_eq(run_unit(&work, pg_is_transient), STATUS_OK);
    ck_assert_int_eq(work.attempts, 3);
}
END_TEST

START_TEST(attempts_are_bounded)
{
    struct failing_work work = { .status = STATUS_TIMEOUT, .failures = 100 };

    ck_assert_int_eq(run_unit(&work, pg_is_transient), STATUS_TIMEOUT);
    ck_assert_int_eq(work.attempts, MAX_ATTEMPTS);
}
END_TEST

START_TEST(another_failure_is_final)
{
    struct failing_work work = { .status = STATUS_INTERNAL, .failures = 100 };

    ck_assert_int_eq(run_unit(&work, pg_is_transient), STATUS_INTERNAL);
    ck_assert_int_eq(work.attempts, 1);
}
END_TEST

START_TEST(a_decision_is_final)
{
    struct failing_work work = {
        .reason = REASON_CATALOGUE_CHANGE_BLOCKED, .has_reason = true, .failures = 100
    };

    ck_assert_int_eq(run_unit(&work, is_always), STATUS_UNAVAILABLE);
    ck_assert_int_eq(work.attempts, 1);
}
END_TEST

START_TEST(what_may_have_been_done_is_never_attempted_again)
{
    struct failing_work work = { .status = STATUS_MAYBE_DONE, .failures = 100 };

    ck_assert_int_eq(run_unit(&work, is_always), STATUS_MAYBE_DONE);
    ck_assert_int_eq(work.attempts, 1);
}
END_TEST

START_TEST(a_changed_catalogue_is_read_before_the_next_attempt)
{
    struct failing_work work = { .status = STATUS_STALE, .failures = 1 };
    struct error err = { 0 };
    int64_t version;

    ck_assert_int_eq(session_ensure(&session, &err), STATUS_OK);
    version = session.catalogue->version;
    test_sql(scene.sql, "update catalogue set version = version + 1");
    ck_assert_int_eq(run_unit(&work, pg_is_transient), STATUS_OK);
    ck_assert_int_eq(work.attempts, 2);
    ck_assert_int_eq(session.catalogue->version, version + 1);
}
END_TEST

START_TEST(a_catalogue_that_changes_often_takes_no_attempt_of_others)
{
    struct failing_work often = { .status = STATUS_STALE, .failures = 10 * MAX_ATTEMPTS };
    struct failing_work always = { .status = STATUS_STALE, .failures = 1000 };

    ck_assert_int_eq(run_unit(&often, pg_is_transient), STATUS_OK);
    ck_assert_int_eq(run_unit(&always, pg_is_transient), STATUS_STALE);
    ck_assert_int_lt(always.attempts, 100);
}
END_TEST

START_TEST(work_of_a_call_that_is_over_is_not_attempted_again)
{
    struct failing_work work = { .status = STATUS_STALE, .is_given_up = true, .failures = 100 };

    ck_assert_int_eq(run_unit(&work, pg_is_transient), STATUS_STALE);
    ck_assert_int_eq(work.attempts, 1);
}
END_TEST

START_TEST(a_lost_connection_is_made_again)
{
    struct failing_work work = { .status = STATUS_UNAVAILABLE, .breaks = true, .failures = 2 };

    ck_assert_int_eq(run_unit(&work, pg_is_transient), STATUS_OK);
    ck_assert_int_eq(work.attempts, 3);
    ck_assert_int_eq(session.pg.connects, 3);
}
END_TEST

START_TEST(without_a_database_no_attempt_begins)
{
    struct failing_work work = { .failures = 0 };

    session_cleanup(&session);
    session_init(&session, "host=/nonexistent", "test worker");
    ck_assert_int_eq(run_unit(&work, pg_is_transient), STATUS_UNAVAILABLE);
    ck_assert_int_eq(work.attempts, 0);
}
END_TEST

Suite *test_unit_of_work_suite(void)
{
    Suite *suite = suite_create("unit_of_work");
    TCase *tc = tcase_create("unit_of_work");

    test_postgres_start();
    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_temporary_failure_is_followed_by_another_attempt);
    tcase_add_test(tc, attempts_are_bounded);
    tcase_add_test(tc, another_failure_is_final);
    tcase_add_test(tc, a_decision_is_final);
    tcase_add_test(tc, what_may_have_been_done_is_never_attempted_again);
    tcase_add_test(tc, a_changed_catalogue_is_read_before_the_next_attempt);
    tcase_add_test(tc, a_catalogue_that_changes_often_takes_no_attempt_of_others);
    tcase_add_test(tc, work_of_a_call_that_is_over_is_not_attempted_again);
    tcase_add_test(tc, a_lost_connection_is_made_again);
    tcase_add_test(tc, without_a_database_no_attempt_begins);
    suite_add_tcase(suite, tc);
    return suite;
}
