/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/intents/retry_budget.c.
 */
#include "domain/intents/retry_budget.h"

#include <check.h>

static int64_t spend(struct retry_budget *budget, int count, int64_t now_us)
{
    int64_t wait_ms = 0;

    while (count-- > 0)
        wait_ms = retry_budget_spend(budget, now_us);
    return wait_ms;
}

static const struct row {
    int failed; /* at once */
    size_t done;
    int64_t later_ms, want_ms; /* what one more waits */
} rows[] = {
    { 0, 0, 0, 0 },
    { 49, 0, 0, 0 },
    { 50, 0, 0, 40 },
    { 99, 0, 0, 2000 },
    { 99, 0, 1000, 1000 },
    { 99, 0, 2000, 0 },
    { 99, 200, 0, 0 },
    { 99, 100, 0, 1000 },
    { 99, 1000000, 0, 0 },
    { 5049, 0, 0, 200000 },
    { 100000, 0, 0, RETRY_LONGEST_WAIT_MS },
    { 100000, 0, RETRY_LONGEST_WAIT_MS, 40 },
};

START_TEST(a_retry_waits_for_its_permit)
{
    const struct row *row = &rows[_i];
    struct retry_budget budget = { 0 };
    int64_t wait_ms;

    spend(&budget, row->failed, 7000000);
    retry_budget_earn(&budget, row->done);
    wait_ms = spend(&budget, 1, 7000000 + row->later_ms * 1000);

    ck_assert_int_ge(wait_ms, row->want_ms - 1);
    ck_assert_int_le(wait_ms, row->want_ms + 1);
}
END_TEST

START_TEST(what_is_saved_has_a_limit)
{
    struct retry_budget budget = { 0 };

    retry_budget_earn(&budget, 1000000);
    ck_assert_int_eq(spend(&budget, RETRY_PERMITS_SAVED, INT64_C(3600) * 1000000), 0);
    ck_assert_int_gt(spend(&budget, 1, INT64_C(3600) * 1000000), 0);
}
END_TEST

/* With any failures, and with a clock that is set back, no more retries are permitted than were earned. */
START_TEST(retries_are_a_fifth_of_the_work_and_25_a_second)
{
    struct retry_budget budget = { 0 };
    int at_once = 0, seconds = 10, per_second = 400;

    for (int i = 0; i < seconds * per_second; i++) {
        int64_t now_us = 1000000 + (int64_t)i * 1000000 / per_second;

        retry_budget_earn(&budget, 1);
        at_once += retry_budget_spend(&budget, i % 7 ? now_us : now_us - 1000) == 0;
    }
    ck_assert_int_le(at_once, RETRY_PERMITS_SAVED + seconds * per_second / RETRY_DONE_PER_PERMIT +
                                  seconds * RETRY_PERMITS_PER_SECOND + 1);
}
END_TEST

static const struct room {
    int64_t waiting, claim;
    bool behind;
    size_t want;
} rooms[] = {
    { 0, 64, false, REFILL_MAX_WAITING },
    { 63, 64, false, REFILL_MAX_WAITING - 63 },
    { 64, 64, false, 0 },
    { 64, 64, true, REFILL_MAX_WAITING - 64 },
    { REFILL_MAX_WAITING / 2 - 1, 64, true, REFILL_MAX_WAITING / 2 + 1 },
    { REFILL_MAX_WAITING / 2, 64, true, 0 },
    { REFILL_MAX_WAITING, 64, true, 0 },
    { 100000, 64, true, 0 },
    { 5000, 10000, false, 0 },
};

START_TEST(streams_are_filled_a_little_ahead)
{
    ck_assert_uint_eq(
        retry_budget_refill_room(rooms[_i].waiting, rooms[_i].claim, rooms[_i].behind), rooms[_i].want);
}
END_TEST

Suite *test_retry_budget_suite(void);
Suite *test_retry_budget_suite(void)
{
    Suite *suite = suite_create("retry_budget");
    TCase *tc = tcase_create("budget");

    tcase_add_loop_test(tc, a_retry_waits_for_its_permit, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tc, what_is_saved_has_a_limit);
    tcase_add_test(tc, retries_are_a_fifth_of_the_work_and_25_a_second);
    tcase_add_loop_test(tc, streams_are_filled_a_little_ahead, 0, sizeof(rooms) / sizeof(rooms[0]));
    suite_add_tcase(suite, tc);
    return suite;
}
