/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clock_step.c - the database's clock is set back by an hour: times stored before lie in the future, and all
 * work on them goes on.
 */
#include <check.h>

#include "domain/intents/retry_budget.h"
#include "domain/limits.h"
#include "domain/ticks.h"
#include "store/dead_letters/claim_work.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/intents/backlog_work.h"
#include "store/intents/lease_work.h"
#include "store/intents/scan_reach.h"
#include "store/job_work.h"
#include "tests/support/worker_world.h"

static struct world world;
static struct error err;

static void setup(void)
{
    err = (struct error){ 0 };
    world_open(&world);
    world_index(&world, BY_CITY, "City", 0);
}

static void teardown(void)
{
    world_close(&world);
}

static int home_range(void)
{
    return world_message("").bucket / (BUCKETS / LEASE_RANGES);
}

/* All open intents were made before the step. */
static void move_intents_ahead(void)
{
    test_sql(world.sql,
        "update intents set id = (lpad(to_hex(intent_created_us(id) + 3600000000), 16, '0') || "
        "right(replace(id::text, '-', ''), 16))::uuid");
}

static struct intent *scan(int64_t min_age_ms, size_t want)
{
    struct intents_found found = world_scan(
        &world, &(struct intent_scan){ .range = home_range(), .min_age_ms = min_age_ms, .max = 100 });

    ck_assert_uint_eq(found.count, want);
    return found.intents;
}

START_TEST(a_lease_further_ahead_than_it_can_last_is_free)
{
    bool held[LEASE_RANGES];

    test_sql(world.sql, "update leases set owner = 'dead', expires_at = now() + interval '1 hour'");

    ck_assert_int_eq(lease_work_hold(world.worker, 5000, held, &err), STATUS_OK);

    for (int range = 0; range < LEASE_RANGES; range++)
        ck_assert(held[range]);
}
END_TEST

START_TEST(intents_from_before_the_step_are_old_enough)
{
    world_put(&world, "a", "Bonn", "x");
    move_intents_ahead();
    world_put(&world, "b", "Bonn", "x");

    scan(1000, 1); /* b is too young */
    scan(0, 2);
}
END_TEST

START_TEST(controlled_queues_see_them_too)
{
    struct scan_scope scope = { .queues = 1 };
    struct intent_scan what = { .range = home_range(), .scope = &scope, .min_age_ms = 1000, .max = 100 };

    for (int slot = 0; slot < MAX_QUEUES * WORK_KINDS; slot++)
        scope.until_us[slot] = INT64_MAX;
    world_put(&world, "a", "Bonn", "x");
    move_intents_ahead();

    ck_assert_uint_eq(world_scan(&world, &what).count, 1);
}
END_TEST

START_TEST(a_retry_further_ahead_than_any_is_due)
{
    world_put(&world, "a", "Bonn", "x");
    struct intent message = world_message("a");
    int32_t failures;

    error_set(&err, STATUS_INTERNAL, "broken");
    ck_assert_int_eq(
        dead_letter_work_count_failure(world.worker, &message, &err, &failures, &err), STATUS_OK);
    ck_assert_int_eq(
        dead_letter_work_retry_after(world.worker, &message, RETRY_LONGEST_WAIT_MS, &err), STATUS_OK);
    scan(0, 0);

    test_sql(world.sql, "update dead_letters set next_try = next_try + interval '1 hour'");
    scan(0, 1);
}
END_TEST

START_TEST(a_claim_further_ahead_than_it_can_be_held_is_dead)
{
    const struct claim_owner dead = { "dead", "1", 5000 }, living = { "living", "2", 5000 };
    bool suspect = false;
    struct intent message;

    world_put(&world, "a", "Bonn", "x");
    message = scan(0, 1)[0];
    ck_assert_int_eq(claim_work_take(world.worker, &dead, &message, 1, &suspect, &err), STATUS_OK);
    ck_assert_int_eq(claim_work_suspect_dead(world.worker, &living, &err), STATUS_OK);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from claims"), 1);

    test_sql(world.sql, "update claims set expires_at = expires_at + interval '1 hour'");
    ck_assert_int_eq(claim_work_suspect_dead(world.worker, &living, &err), STATUS_OK);

    ck_assert_int_eq(test_number(world.sql, "select count(*) from claims"), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters where deliveries > 0"), 1);
}
END_TEST

static long long claimed(void)
{
    bool worked;

    ck_assert_msg(job_work_run(world.worker, &worked, &err) == STATUS_OK, "%s", err.message);
    return worked;
}

START_TEST(an_operation_claimed_further_ahead_than_a_claim_lasts_is_taken_over)
{
    world_put(&world, "a", "Bonn", "x");
    world_reconcile_all(&world);
    test_sql(world.sql,
        "insert into operations (operation_id, kind, account, target, table_id, index_id, state, "
        "started, owner, claim_expires_at) "
        "values ('purge-1', 'delete_table', 'local', 'x', 77, 0, 1, 0, 'dead', now() + interval '4 "
        "seconds')");
    ck_assert(!claimed());

    test_sql(world.sql, "update operations set claim_expires_at = claim_expires_at + interval '1 hour'");
    ck_assert(claimed());
}
END_TEST

/* ---- the lag ---- */

static long long as_of(int range)
{
    return test_number(world.sql, "select as_of from watermarks where bucket_range = %d", range);
}

START_TEST(the_progress_of_a_range_is_unknown_while_older_work_has_a_younger_time)
{
    bool held[LEASE_RANGES] = { false };
    struct backlog backlog = { .queues = 1 };

    held[home_range()] = true;
    world_put(&world, "a", "Bonn", "x");
    move_intents_ahead();
    world_put(&world, "b", "Bonn", "x");

    ck_assert_int_eq(backlog_work_update(world.worker, held, true, &backlog, &err), STATUS_OK);
    ck_assert_int_eq(as_of(home_range()), 0);
    ck_assert_int_eq(backlog.oldest_age_us[home_range()], BACKLOG_UNKNOWN_AGE);

    world_reconcile_all(&world);
    ck_assert_int_eq(backlog_work_update(world.worker, held, true, &backlog, &err), STATUS_OK);
    ck_assert_int_gt(as_of(home_range()), 0);
}
END_TEST

Suite *test_clock_step_suite(void)
{
    Suite *suite = suite_create("clock_step");
    TCase *tc = tcase_create("clock_step");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_lease_further_ahead_than_it_can_last_is_free);
    tcase_add_test(tc, intents_from_before_the_step_are_old_enough);
    tcase_add_test(tc, controlled_queues_see_them_too);
    tcase_add_test(tc, a_retry_further_ahead_than_any_is_due);
    tcase_add_test(tc, a_claim_further_ahead_than_it_can_be_held_is_dead);
    tcase_add_test(tc, an_operation_claimed_further_ahead_than_a_claim_lasts_is_taken_over);
    tcase_add_test(tc, the_progress_of_a_range_is_unknown_while_older_work_has_a_younger_time);
    suite_add_tcase(suite, tc);
    return suite;
}
