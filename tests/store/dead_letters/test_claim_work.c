/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_claim_work.c - work that ended without a report: it is counted apart from failures, and found in the claims of
 * dead consumers.
 */
#include <check.h>

#include "domain/intents/retry_budget.h"
#include "store/background/sweep.h"
#include "store/dead_letters/claim_work.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/intents/lease_work.h"
#include "store/intents/scan_reach.h"
#include "tests/support/worker_world.h"

static struct world world;
static struct error err;
enum { DURATION_MS = 60000 };

static const struct claim_owner first = { "w-consumer0", "1", DURATION_MS },
                                second = { "w-consumer1", "2", DURATION_MS },
                                third = { "w-consumer2", "3", DURATION_MS };

static void setup(void)
{
    err = (struct error){ 0 };
    world_open(&world);
    world_index(&world, BY_CITY, "City", 0);
    world_put(&world, "a", "Bonn", "x");
    world_put(&world, "b", "Bonn", "x");
    world_put(&world, "c", "Bonn", "x");
}

static void teardown(void)
{
    world_close(&world);
}

/* ---- words ---- */

static void succeeds(enum status status)
{
    ck_assert_msg(status == STATUS_OK, "%s", err.message);
}

static struct intent *scan(size_t want)
{
    int range = world_message("").bucket / RANGE_BUCKETS;
    struct intents_found found = world_scan(&world, &(struct intent_scan){ .range = range, .max = 100 });

    ck_assert_uint_eq(found.count, want);
    return found.intents;
}

/* Returns which of the intents are suspects, as digits. */
static const char *take(const struct claim_owner *owner, const struct intent *intents, size_t count)
{
    bool *suspects = ARENA_ARRAY(&world.arena, bool, count);
    char *digits = ARENA_ARRAY(&world.arena, char, count + 1);

    succeeds(claim_work_take(world.worker, owner, intents, count, suspects, &err));
    for (size_t i = 0; i < count; i++)
        digits[i] = suspects[i] ? '1' : '0';
    return digits;
}

static int32_t begin(const char *row)
{
    struct intent intent = world_message(row);
    int32_t before = -1;

    succeeds(dead_letter_work_count_delivery(world.worker, &intent, &before, &err));
    return before;
}

static long long hands(void)
{
    return test_number(world.sql, "select count(*) from claims");
}

static void dies(const struct claim_owner *owner)
{
    test_sql(world.sql, "update claims set expires_at = now() - interval '1 second' where consumer = '%s'",
        owner->consumer);
}

static long long dead_letters(const char *what)
{
    return test_number(world.sql, "select count(*) from dead_letters where %s", what);
}

/* ---- counting ---- */

START_TEST(deliveries_and_failures_are_counted_apart)
{
    struct intent intent = world_message("a");
    struct error cause = { 0 };
    int32_t failures = 0;

    ck_assert_int_eq(begin("a"), 0);
    ck_assert_int_eq(begin("a"), 1);
    ck_assert_int_eq(dead_letters("deliveries = 2 and failures = 0 and not dead and next_try > now()"), 1);
    scan(2);

    error_set(&cause, STATUS_INTERNAL, "broken");
    succeeds(dead_letter_work_count_failure(world.worker, &intent, &cause, &failures, &err));
    ck_assert_int_eq(failures, 1);
    ck_assert_int_eq(begin("a"), 0);
    ck_assert_int_eq(dead_letters("deliveries = 1 and failures = 1"), 1);

    succeeds(dead_letter_work_report(world.worker, &intent, &err));
    ck_assert_int_eq(dead_letters("deliveries = 0 and failures = 1 and next_try <= now()"), 1);
    world_reconcile(&world, "a");
    ck_assert_int_eq(dead_letters("true"), 0);
    ck_assert_int_eq(begin("a"), 0);
    ck_assert_int_eq(dead_letters("true"), 0);
}
END_TEST

/* Returns which of the intents wait for their next try, as digits. */
static const char *waiting(const struct intent *intents, size_t count)
{
    bool *waits = ARENA_ARRAY(&world.arena, bool, count);
    char *digits = ARENA_ARRAY(&world.arena, char, count + 1);

    succeeds(claim_work_find_waiting(world.worker, intents, count, waits, &err));
    for (size_t i = 0; i < count; i++)
        digits[i] = waits[i] ? '1' : '0';
    return digits;
}

/* As a scan, which finds the keys that do not wait. */
START_TEST(a_failed_key_waits_until_its_next_try_is_due)
{
    struct intent *open = scan(3);
    struct error cause = { 0 };
    int32_t failures;

    error_set(&cause, STATUS_INTERNAL, "broken");
    ck_assert_str_eq(waiting(open, 3), "000");
    succeeds(dead_letter_work_count_failure(world.worker, &open[1], &cause, &failures, &err));
    ck_assert_str_eq(waiting(open, 3), "000");

    succeeds(dead_letter_work_retry_after(world.worker, &open[1], RETRY_LONGEST_WAIT_MS, &err));
    ck_assert_str_eq(waiting(open, 3), "010");
    scan(2);

    test_sql(world.sql,
        "update dead_letters set next_try = next_try + interval '1 hour'"); /* the clock was set back */
    ck_assert_str_eq(waiting(open, 3), "000");
    scan(3);
}
END_TEST

START_TEST(a_suspect_does_not_wait)
{
    struct intent *open = scan(3);

    begin("a");
    ck_assert_int_eq(dead_letters("deliveries = 1 and next_try > now()"), 1);
    ck_assert_str_eq(waiting(open, 3), "000");
}
END_TEST

/* ---- claims ---- */

START_TEST(what_a_dead_worker_had_in_hand_is_suspect)
{
    struct intent *open = scan(3);

    ck_assert_str_eq(take(&first, open, 2), "00");
    world_reconcile(&world, "b");
    succeeds(claim_work_suspect_dead(world.worker, &second, &err));
    ck_assert_str_eq(take(&second, scan(2), 2), "00");

    dies(&first);
    succeeds(claim_work_suspect_dead(world.worker, &second, &err));
    ck_assert_int_eq(hands(), 1);
    ck_assert_str_eq(take(&second, scan(2), 2), "10");
    ck_assert_int_eq(dead_letters("row_key = 'a' and deliveries = 1 and failures = 0"), 1);

    world_reconcile(&world, "a");
    ck_assert_int_eq(dead_letters("true"), 0);
}
END_TEST

START_TEST(suspicion_is_no_count)
{
    struct intent *open = scan(3);

    for (int i = 0; i < 3; i++) {
        take(&first, open, 1);
        dies(&first);
        succeeds(claim_work_suspect_dead(world.worker, &second, &err));
    }
    ck_assert_int_eq(dead_letters("deliveries = 1"), 1);
    ck_assert_int_eq(begin("a"), 1);
}
END_TEST

START_TEST(what_was_put_down_or_renewed_is_not)
{
    struct intent *open = scan(3);

    take(&first, open, 3);
    take(&first, open, 1);
    succeeds(claim_work_release(world.worker, &first, &err));
    ck_assert_int_eq(hands(), 0);

    take(&first, open, 3);
    dies(&first);
    succeeds(claim_work_renew(world.worker, &first, &err));
    succeeds(claim_work_suspect_dead(world.worker, &second, &err));
    ck_assert_int_eq(dead_letters("true"), 0);
    ck_assert_int_eq(hands(), 1);
}
END_TEST

START_TEST(a_restarted_worker_looks_at_its_own_last_claim)
{
    const struct claim_owner again = { first.consumer, "3", DURATION_MS };

    take(&first, scan(3), 1);
    succeeds(claim_work_suspect_dead(world.worker, &again, &err));
    ck_assert_int_eq(hands(), 0);
    ck_assert_str_eq(take(&again, scan(3), 3), "100");
}
END_TEST

/*
 * A lock on the key shows that its consumer lives. The claim stays until the lock is free, and other claims do not
 * wait for it.
 */
START_TEST(a_key_that_another_worker_has_claimed_is_suspected_later)
{
    PGconn *other = test_connect(world.conninfo);
    struct intent *open = scan(3);

    take(&first, &open[0], 1);
    take(&second, &open[1], 1);
    dies(&first);
    dies(&second);
    test_sql(
        other, "begin; insert into index_state values (%d, %d, 'p', 'a', 0, '')", open[0].bucket, TABLE_ID);

    ck_assert_int_eq(claim_work_suspect_dead(world.worker, &third, &err), STATUS_TIMEOUT);
    ck_assert_int_eq(dead_letters("row_key = 'b' and deliveries = 1"), 1);
    ck_assert_int_eq(hands(), 1);

    test_sql(other, "rollback");
    succeeds(claim_work_suspect_dead(world.worker, &third, &err));
    ck_assert_int_eq(dead_letters("deliveries = 1"), 2);
    ck_assert_int_eq(hands(), 0);
    PQfinish(other);
}
END_TEST

/* If all work comes from Redis, no worker looks for claims of dead consumers. */
START_TEST(the_hand_of_a_dead_worker_goes_when_nothing_of_it_is_open)
{
    static const struct sweep_ages ages = { 3600, 3600, 3600, 3600, 3600, 3600 };
    struct sweep_counts counts = { 0 };
    struct intent *open = scan(3);
    bool more;

    take(&first, &open[0], 1);
    take(&second, &open[1], 1);
    take(&third, &open[2], 1);
    dies(&first);
    dies(&second);
    test_sql(world.sql, "delete from intents where row_key <> 'a'");

    succeeds(sweep_run(world.worker, &ages, &counts, &more, &err));

    ck_assert_int_eq(counts.claims, 1);
    ck_assert_int_eq(hands(), 2); /* one has an open intent, the other's consumer lives */
}
END_TEST

Suite *test_claim_work_suite(void)
{
    Suite *suite = suite_create("claims");
    TCase *tc = tcase_create("in hand");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, deliveries_and_failures_are_counted_apart);
    tcase_add_test(tc, a_failed_key_waits_until_its_next_try_is_due);
    tcase_add_test(tc, a_suspect_does_not_wait);
    tcase_add_test(tc, what_a_dead_worker_had_in_hand_is_suspect);
    tcase_add_test(tc, suspicion_is_no_count);
    tcase_add_test(tc, what_was_put_down_or_renewed_is_not);
    tcase_add_test(tc, a_restarted_worker_looks_at_its_own_last_claim);
    tcase_add_test(tc, a_key_that_another_worker_has_claimed_is_suspected_later);
    tcase_add_test(tc, the_hand_of_a_dead_worker_goes_when_nothing_of_it_is_open);
    suite_add_tcase(suite, tc);
    return suite;
}
