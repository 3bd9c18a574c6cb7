/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lease_work.c - leases, scanning, watermarks, and keys that fail.
 */
#include <check.h>
#include <stdio.h>

#include "domain/limits.h"
#include "domain/ticks.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/indexes/reconcile.h"
#include "store/intents/backlog_work.h"
#include "store/intents/lease_work.h"
#include "store/intents/scan_reach.h"
#include "store/transactions/transaction_calls.h"
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
    return world_message("").bucket / RANGE_BUCKETS;
}

/* ---- leases ---- */

static int ranges_of(struct worker *worker, int64_t lease_ms, bool held[LEASE_RANGES])
{
    int count = 0;

    ck_assert_msg(lease_work_hold(worker, lease_ms, held, &err) == STATUS_OK, "%s", err.message);
    for (int i = 0; i < LEASE_RANGES; i++)
        count += held[i];
    return count;
}

START_TEST(ranges_are_held_taken_over_and_released)
{
    struct worker *other = world_worker(&world, "worker-2");
    bool held[LEASE_RANGES], others[LEASE_RANGES];

    ck_assert_int_eq(ranges_of(world.worker, 60000, held), LEASE_RANGES);
    ck_assert_int_eq(ranges_of(other, 60000, others), 0);

    test_sql(
        world.sql, "update leases set expires_at = now() - interval '1 second' where bucket_range in (3, 5)");
    ck_assert_int_eq(ranges_of(other, 60000, others), 2);
    ck_assert(others[3] && others[5]);
    ck_assert_int_eq(ranges_of(world.worker, 60000, held), LEASE_RANGES - 2);
    ck_assert(!held[3] && !held[5]);

    ck_assert_int_eq(lease_work_release(world.worker, &err), STATUS_OK);
    ck_assert_int_eq(ranges_of(other, 60000, others), LEASE_RANGES);
    worker_close(other);
}
END_TEST

/* ---- scanning ---- */

static const struct intent_id from_start;

static struct intents_found scan(int range, struct intent_id from_id, int64_t min_age_ms, size_t max)
{
    return world_scan(&world,
        &(struct intent_scan){ .range = range, .from_id = from_id, .min_age_ms = min_age_ms, .max = max });
}

START_TEST(a_scan_finds_open_intents_oldest_first)
{
    world_put(&world, "b", "Bonn", "x");
    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "c", "Bonn", "x");

    struct intents_found all = scan(home_range(), from_start, 0, 100);
    struct intents_found two = scan(home_range(), from_start, 0, 2);
    struct intents_found rest = scan(home_range(), all.intents[1].id, 0, 100);

    ck_assert_uint_eq(all.count, 3);
    ck_assert(str_equal(all.intents[0].key.row, STR_LITERAL("b")));
    ck_assert(str_equal(all.intents[0].key.partition, STR_LITERAL("p")));
    ck_assert_int_eq(all.intents[0].table_id, TABLE_ID);
    ck_assert_int_eq(all.intents[0].kind, INTENT_RECONCILE);
    ck_assert_int_eq(all.intents[0].version, 1);
    ck_assert_int_eq(all.intents[0].bucket, world_message("b").bucket);
    ck_assert(str_equal(all.intents[2].key.row, STR_LITERAL("c")));
    ck_assert_uint_eq(two.count, 2);
    ck_assert_uint_eq(rest.count, 1);
    ck_assert_uint_eq(scan((home_range() + 1) % LEASE_RANGES, from_start, 0, 100).count, 0);
    ck_assert_uint_eq(scan(home_range(), from_start, 60000, 100).count, 0);
}
END_TEST

static size_t scan_on(struct scan_reach *reach, bool rest_only, size_t max)
{
    struct intent_scan what = { .range = home_range(), .rest_only = rest_only, .max = max };
    struct intents_found found;

    ck_assert_int_eq(lease_work_scan(world.worker, &what, reach, &world.arena, &found, &err), STATUS_OK);
    for (size_t i = 1; i < found.count; i++)
        ck_assert_int_lt(intent_id_compare(found.intents[i - 1].id, found.intents[i].id), 0);
    return found.count;
}

/* First the share of its bucket, then all that is left, each intent once; by kinds of work as well. */
START_TEST(a_scan_goes_on_where_a_share_was_full)
{
    struct scan_reach reach = { 0 };

    for (int i = 0; i < 150; i++) {
        char row[16];

        snprintf(row, sizeof(row), "%03d", i);
        world_put(&world, row, "Bonn", "x");
    }

    ck_assert_uint_eq(scan_on(&reach, false, 512), 64);
    ck_assert_int_eq(reach.open, 1);
    ck_assert_uint_eq(scan_on(&reach, true, 50), 50);
    ck_assert_uint_eq(scan_on(&reach, true, 512), 36);
    ck_assert_int_eq(reach.open, 0);
    ck_assert_uint_eq(scan_on(&reach, true, 512), 0);
    ck_assert_uint_eq(scan_on(&reach, false, 512), 64);
}
END_TEST

/* The first intent of every bucket comes before the second of any: an older backlog does not displace the others. */
START_TEST(a_scan_takes_of_every_bucket_in_turn)
{
    struct intents_found found;

    test_sql(world.sql,
        "insert into intents (table_id, partition_key, row_key, bucket, id, kind, version) "
        "select %d, 'q', n::text, %d + case when n <= 100 then 0 else 1 end, "
        "(lpad(to_hex(1000000 + n), 16, '0') || repeat('0', 16))::uuid, 1, 1 from generate_series(1, 110) n",
        TABLE_ID, home_range() * RANGE_BUCKETS);

    found = scan(home_range(), from_start, 0, 10);

    ck_assert_uint_eq(found.count, 10);
    for (size_t i = 0; i < found.count; i++)
        ck_assert_int_eq(found.intents[i].bucket % 2, (int)i % 2);
}
END_TEST

START_TEST(the_low_mark_stays_a_minute_behind_the_oldest)
{
    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "b", "Bonn", "x");
    struct intents_found found = scan(home_range(), from_start, 60000, 100); /* too young, but seen */
    struct intents_found all = scan(home_range(), found.low_id, 0, 100);

    ck_assert_uint_eq(all.count, 2);
    ck_assert_int_eq(intent_id_us(all.intents[0].id) - intent_id_us(found.low_id), 60000000);

    world_reconcile_all(&world);
    int64_t before = test_number(world.sql, "select (extract(epoch from now()) * 1000000)::int8");
    ck_assert_int_ge(intent_id_us(scan(home_range(), from_start, 0, 100).low_id), before - 60000000);
}
END_TEST

/* ---- watermarks ---- */

static int64_t as_of(int range)
{
    return test_number(world.sql, "select as_of from watermarks where bucket_range = %d", range);
}

START_TEST(a_range_is_applied_up_to_its_oldest_open_intent) /* guard G13 */
{
    bool held[LEASE_RANGES] = { false };
    struct backlog backlog = { .queues = 1 };
    struct intent first;

    held[home_range()] = true;
    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "b", "Bonn", "x");
    first = scan(home_range(), from_start, 0, 1).intents[0];

    ck_assert_int_eq(backlog_work_update(world.worker, held, true, &backlog, &err), STATUS_OK);

    ck_assert_int_eq(backlog.open_intents, 2);
    ck_assert_int_gt(backlog.lag_us, 0);
    ck_assert_int_eq(backlog.oldest_age_us[home_range()], backlog.lag_us);
    ck_assert_int_eq(backlog.oldest_age_us[(home_range() + 1) % LEASE_RANGES], BACKLOG_NO_AGE);
    ck_assert_int_eq(as_of(home_range()), ticks_from_unix_us(intent_id_us(first.id)));
    ck_assert_int_eq(as_of((home_range() + 1) % LEASE_RANGES), 0); /* not held */

    world_reconcile_all(&world);
    int64_t before = test_number(world.sql, "select (extract(epoch from now()) * 1000000)::int8");
    ck_assert_int_eq(backlog_work_update(world.worker, held, true, &backlog, &err), STATUS_OK);
    ck_assert_int_eq(backlog.open_intents, 0);
    ck_assert_int_eq(backlog.lag_us, 0);
    ck_assert_int_eq(backlog.oldest_age_us[home_range()], BACKLOG_NO_AGE);
    ck_assert_int_ge(as_of(home_range()), ticks_from_unix_us(before));
}
END_TEST

/* ---- keys that fail ---- */

static int32_t count_one(const struct intent *intent)
{
    struct error cause = { 0 };
    int32_t failures = -1;

    error_set(&cause, STATUS_INTERNAL, "database: it's broken");
    ck_assert_msg(dead_letter_work_count_failure(world.worker, intent, &cause, &failures, &err) == STATUS_OK,
        "%s", err.message);
    return failures;
}

START_TEST(failures_are_counted_and_hide_the_key_until_its_next_try)
{
    struct intent message = world_message("a");

    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "b", "Bonn", "x");
    ck_assert_int_eq(count_one(&message), 1);
    ck_assert_int_eq(count_one(&message), 2);
    ck_assert_uint_eq(scan(home_range(), from_start, 0, 10).count, 2);

    ck_assert_int_eq(dead_letter_work_retry_after(world.worker, &message, 60000, &err), STATUS_OK);
    struct intents_found found = scan(home_range(), from_start, 0, 10);
    ck_assert_uint_eq(found.count, 1);
    ck_assert(str_equal(found.intents[0].key.row, STR_LITERAL("b")));
    ck_assert_str_eq(
        test_text(world.sql, "select cause from dead_letters"), "INTERNAL: database: it's broken");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 0);

    ck_assert_int_eq(dead_letter_work_retry_after(world.worker, &message, -1, &err), STATUS_OK);
    ck_assert_uint_eq(scan(home_range(), from_start, 0, 10).count, 2);
    world_reconcile_all(&world);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    world_check(&world);
}
END_TEST

static struct intents_found due_within(const struct scan_scope *scope, size_t of_each)
{
    bool all[LEASE_RANGES];
    struct retry_scan what = { .ranges = all, .scope = scope, .max_of_each = of_each, .max = 100 };
    struct intents_found found;

    memset(all, true, sizeof(all));
    ck_assert_msg(lease_work_find_retries(world.worker, &what, &world.arena, &found, &err) == STATUS_OK, "%s",
        err.message);
    return found;
}

static struct intents_found due(size_t of_each)
{
    return due_within(NULL, of_each);
}

START_TEST(a_retry_is_found_once_it_is_due)
{
    bool none[LEASE_RANGES] = { false };
    struct retry_scan of_none = { .ranges = none, .max_of_each = 10, .max = 100 };
    struct intent message = world_message("a");
    struct intents_found found;

    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "a", "Cork", "x");
    ck_assert_uint_eq(due(10).count, 0);
    count_one(&message);
    ck_assert_int_eq(dead_letter_work_retry_after(world.worker, &message, 60000, &err), STATUS_OK);
    ck_assert_uint_eq(due(10).count, 0);
    ck_assert_int_eq(dead_letter_work_retry_after(world.worker, &message, -1, &err), STATUS_OK);

    found = due(10);
    ck_assert_uint_eq(found.count, 1);
    ck_assert(str_equal(found.intents[0].key.row, STR_LITERAL("a")));
    ck_assert_int_eq(found.intents[0].kind, INTENT_RECONCILE);
    ck_assert(str_equal(found.intents[0].account, STR_LITERAL("acme")));
    ck_assert_int_eq(lease_work_find_retries(world.worker, &of_none, &world.arena, &found, &err), STATUS_OK);
    ck_assert_uint_eq(found.count, 0);
    ck_assert_int_eq(dead_letter_work_bury(world.worker, &message, &err), STATUS_OK);
    ck_assert_uint_eq(due(10).count, 0);
}
END_TEST

START_TEST(a_retry_that_is_far_ahead_is_due_because_the_clock_was_set_back)
{
    struct intent message = world_message("a");

    world_put(&world, "a", "Bonn", "x");
    count_one(&message);
    ck_assert_int_eq(dead_letter_work_retry_after(world.worker, &message, 60000, &err), STATUS_OK);
    test_sql(world.sql, "update dead_letters set next_try = next_try + interval '1 hour'");

    ck_assert_uint_eq(due(10).count, 1);
    test_sql(world.sql, "update dead_letters set index_id = 5"); /* no work of the key as a whole */
    ck_assert_uint_eq(due(10).count, 0);
}
END_TEST

/* 50 transactions that have failed: the last one is quiet's, the others noisy's. */
static void given_due_transactions(void)
{
    test_sql(world.sql, "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version)"
                        " select 7, lpad(to_hex(n), 32, '0')::uuid, 2, 0, case n when 50 then 'quiet' else "
                        "'noisy' end, n::text, 1"
                        " from generate_series(1, 50) n");
    test_sql(world.sql,
        "insert into dead_letters (bucket, kind, table_id, partition_key, row_key, index_id, dead, failures, "
        "cause,"
        " history, next_try) select bucket, kind, table_id, partition_key, row_key, 0, false, 1, '', '',"
        " now() - interval '1 hour' + row_key::int * interval '1 second' from intents");
}

/* In queue 3 of 4: the transactions are in bucket 7. */
START_TEST(retries_of_paused_work_hide_no_others)
{
    struct scan_scope scope = { .queues = 4 };

    for (int slot = 0; slot < 4 * WORK_KINDS; slot++)
        scope.until_us[slot] = INT64_MAX;
    given_due_transactions();
    test_sql(world.sql, "update intents set bucket = 6 where row_key = '49'");
    test_sql(world.sql, "update dead_letters set bucket = 6 where row_key = '49'");

    ck_assert_uint_eq(due_within(&scope, 20).count, 21);
    scope.until_us[queue_slot(3, INTENT_RECONCILE)] = 0;
    ck_assert_uint_eq(due_within(&scope, 20).count, 21);
    scope.until_us[queue_slot(3, INTENT_TRANSACTION)] = 0;
    ck_assert_uint_eq(due_within(&scope, 20).count, 1);
}
END_TEST

START_TEST(many_retries_of_one_account_hide_no_others)
{
    struct intents_found found;

    given_due_transactions();

    found = due(20);
    ck_assert_uint_eq(found.count, 21);
    ck_assert(str_equal(intent_account(&found.intents[1]), STR_LITERAL("quiet")));
    ck_assert(str_equal(found.intents[0].key.row, STR_LITERAL("1")));
}
END_TEST

START_TEST(a_key_with_nothing_open_has_nothing_to_count_or_bury)
{
    struct intent message = world_message("a");

    world_put(&world, "a", "Bonn", "x");
    world_reconcile(&world, "a");

    ck_assert_int_eq(count_one(&message), 0);
    ck_assert_int_eq(dead_letter_work_bury(world.worker, &message, &err), STATUS_OK);

    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    world_check(&world);
}
END_TEST

START_TEST(a_buried_key_loses_its_intents_and_a_later_success_digs_it_out)
{
    struct intent message = world_message("a");

    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "a", "Rome", "x");
    count_one(&message);
    ck_assert_msg(dead_letter_work_bury(world.worker, &message, &err) == STATUS_OK, "%s", err.message);

    ck_assert_int_eq(world_intents(&world), 0);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from dead_letters where dead and failures = 1"), 1);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from index_state"), 0);

    world_put(&world, "a", "Oslo", "x");
    world_reconcile(&world, "a");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    world_check(&world);
}
END_TEST

static struct intent a_transaction(int state)
{
    struct intent intent = { .kind = INTENT_TRANSACTION,
        .bucket = transaction_calls_bucket(STR_LITERAL("t1")),
        .key = { STR_LITERAL("acme"), STR_LITERAL("t1") } };

    test_sql(world.sql,
        "insert into transactions (bucket, account, txn_id, state, steps, steps_done, timeline, submitted) "
        "values (%d, 'acme', 't1', %d, '\\x01', 0, '\\x01', 1);"
        "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version) "
        "values (%d, gen_random_uuid(), 2, 0, 'acme', 't1', 0)",
        intent.bucket, state, intent.bucket);
    return intent;
}

START_TEST(a_buried_transaction_is_dead_and_its_intent_gone)
{
    struct intent intent = a_transaction(2);

    ck_assert_int_eq(count_one(&intent), 1);
    ck_assert_msg(dead_letter_work_bury(world.worker, &intent, &err) == STATUS_OK, "%s", err.message);

    ck_assert_int_eq(test_number(world.sql, "select state from transactions"), TRANSACTION_DEAD);
    ck_assert_int_eq(world_intents(&world), 0);
    ck_assert_int_eq(test_number(world.sql,
                         "select count(*) from dead_letters where kind = 2 and dead and row_key = 't1'"),
        1);
}
END_TEST

START_TEST(a_transaction_that_has_ended_is_not_buried)
{
    struct intent intent = a_transaction(TRANSACTION_DONE);

    ck_assert_int_eq(count_one(&intent), 0);
    ck_assert_msg(dead_letter_work_bury(world.worker, &intent, &err) == STATUS_OK, "%s", err.message);

    ck_assert_int_eq(test_number(world.sql, "select state from transactions"), TRANSACTION_DONE);
    ck_assert_int_eq(world_intents(&world), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
}
END_TEST

START_TEST(without_a_database_everything_is_unavailable)
{
    struct worker *lost = NULL;
    struct intent message = world_message("a");
    struct reconcile_counts counts = { 0 };
    bool held[LEASE_RANGES] = { false };

    ck_assert_int_eq(worker_open("host=/nowhere dbname=none", "w", &lost, &err), STATUS_OK);
    ck_assert_int_eq(reconcile_keys(lost, &message, 1, false, &counts, &err), STATUS_UNAVAILABLE);
    ck_assert_int_eq(lease_work_hold(lost, 1000, held, &err), STATUS_UNAVAILABLE);
    worker_close(lost);
    ck_assert_int_eq(worker_open(world.conninfo, "", &lost, &err), STATUS_INVALID);
}
END_TEST

Suite *test_lease_work_suite(void)
{
    Suite *suite = suite_create("leases");
    TCase *tc = tcase_create("leases");

    test_postgres_start();
    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, ranges_are_held_taken_over_and_released);
    tcase_add_test(tc, a_scan_finds_open_intents_oldest_first);
    tcase_add_test(tc, a_scan_goes_on_where_a_share_was_full);
    tcase_add_test(tc, a_scan_takes_of_every_bucket_in_turn);
    tcase_add_test(tc, the_low_mark_stays_a_minute_behind_the_oldest);
    tcase_add_test(tc, a_range_is_applied_up_to_its_oldest_open_intent);
    tcase_add_test(tc, failures_are_counted_and_hide_the_key_until_its_next_try);
    tcase_add_test(tc, a_retry_is_found_once_it_is_due);
    tcase_add_test(tc, a_retry_that_is_far_ahead_is_due_because_the_clock_was_set_back);
    tcase_add_test(tc, retries_of_paused_work_hide_no_others);
    tcase_add_test(tc, many_retries_of_one_account_hide_no_others);
    tcase_add_test(tc, a_key_with_nothing_open_has_nothing_to_count_or_bury);
    tcase_add_test(tc, a_buried_key_loses_its_intents_and_a_later_success_digs_it_out);
    tcase_add_test(tc, a_buried_transaction_is_dead_and_its_intent_gone);
    tcase_add_test(tc, a_transaction_that_has_ended_is_not_buried);
    tcase_add_test(tc, without_a_database_everything_is_unavailable);
    suite_add_tcase(suite, tc);
    return suite;
}
