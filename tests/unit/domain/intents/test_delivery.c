/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/intents/delivery.c.
 */
#include "domain/intents/delivery.h"

#include <check.h>

START_TEST(success_is_acknowledged)
{
    ck_assert_int_eq(delivery_settle(STATUS_OK, 0, 0).verdict, DELIVERY_ACKNOWLEDGE);
    ck_assert_int_eq(delivery_settle(STATUS_OK, 99, 0).verdict, DELIVERY_ACKNOWLEDGE);
}
END_TEST

static const enum status outages[] = { STATUS_UNAVAILABLE, STATUS_TIMEOUT, STATUS_CANCELLED };

START_TEST(outages_are_retried_for_ever)
{
    for (int32_t failures = 0; failures < 1000; failures++) {
        struct delivery got = delivery_settle(outages[_i], failures, 1);

        ck_assert_int_eq(got.verdict, DELIVERY_RETRY);
        ck_assert_int_gt(got.retry_after_ms, 0);
    }
    ck_assert_int_eq(delivery_settle(outages[_i], INT32_MAX, 1).verdict, DELIVERY_RETRY);
}
END_TEST

static const enum status counted[] = { STATUS_INVALID, STATUS_OUT_OF_RANGE, STATUS_NOT_FOUND, STATUS_EXISTS,
    STATUS_STALE, STATUS_PRECONDITION, STATUS_LIMIT, STATUS_UNIMPLEMENTED, STATUS_UNAUTHENTICATED,
    STATUS_DENIED, STATUS_MAYBE_DONE, STATUS_INTERNAL };

START_TEST(other_failures_are_buried_at_the_limit)
{
    ck_assert_int_eq(delivery_settle(counted[_i], 1, 0).verdict, DELIVERY_RETRY);
    ck_assert_int_eq(delivery_settle(counted[_i], DELIVERY_MAX_FAILURES - 1, 0).verdict, DELIVERY_RETRY);
    ck_assert_int_eq(delivery_settle(counted[_i], DELIVERY_MAX_FAILURES, 0).verdict, DELIVERY_BURY);
    ck_assert_int_eq(delivery_settle(counted[_i], DELIVERY_MAX_FAILURES + 1, 0).verdict, DELIVERY_BURY);
}
END_TEST

START_TEST(a_cause_outside_is_given_hours_and_a_final_one_nothing)
{
    const enum status status = STATUS_INTERNAL;

    for (int32_t failures = 1; failures < DELIVERY_MAX_OUTSIDE; failures++) {
        struct delivery got = delivery_settle_cause(status, DELIVERY_OF_OUTSIDE, failures, 1);

        ck_assert_int_eq(got.verdict, DELIVERY_RETRY);
        ck_assert_int_le(got.retry_after_ms, 25600);
    }
    ck_assert_int_eq(
        delivery_settle_cause(status, DELIVERY_OF_OUTSIDE, DELIVERY_MAX_OUTSIDE, 1).verdict, DELIVERY_BURY);
    ck_assert_int_eq(delivery_settle_cause(status, DELIVERY_FINAL, 1, 1).verdict, DELIVERY_BURY);
    ck_assert_int_eq(delivery_settle_cause(status, DELIVERY_OF_WORK, 9, 1).verdict, DELIVERY_RETRY);
    ck_assert_int_eq(delivery_settle_cause(status, DELIVERY_OF_WORK, 10, 1).verdict, DELIVERY_BURY);
}
END_TEST

static const struct delay_case {
    int32_t failures;
    int64_t whole_ms;
} delay_cases[] = {
    { 0, 100 },
    { 1, 100 },
    { 2, 200 },
    { 3, 400 },
    { 9, 25600 },
    { 10, 51200 },
    { 11, 60000 },
    { 1000, 60000 },
};

START_TEST(the_delay_doubles_and_is_jittered_between_half_and_whole)
{
    const struct delay_case *c = &delay_cases[_i];
    int64_t min = INT64_MAX, max = 0;
    uint64_t random = 12345;

    for (int i = 0; i < 20000; i++) {
        int64_t delay = delivery_settle(STATUS_UNAVAILABLE, c->failures, random).retry_after_ms;

        min = delay < min ? delay : min;
        max = delay > max ? delay : max;
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }

    ck_assert_int_ge(min, c->whole_ms / 2);
    ck_assert_int_le(min, c->whole_ms / 2 + c->whole_ms / 100);
    ck_assert_int_le(max, c->whole_ms);
    ck_assert_int_ge(max, c->whole_ms - c->whole_ms / 100);
}
END_TEST

START_TEST(what_never_reports_is_given_up_in_the_end)
{
    ck_assert(!delivery_is_hopeless(0));
    ck_assert(!delivery_is_hopeless(DELIVERY_MAX_SILENT - 1));
    ck_assert(delivery_is_hopeless(DELIVERY_MAX_SILENT));
}
END_TEST

Suite *test_delivery_suite(void)
{
    Suite *suite = suite_create("delivery");
    TCase *tc = tcase_create("delivery");

    tcase_add_test(tc, success_is_acknowledged);
    tcase_add_loop_test(tc, outages_are_retried_for_ever, 0, ARRAY_LEN(outages));
    tcase_add_loop_test(tc, other_failures_are_buried_at_the_limit, 0, ARRAY_LEN(counted));
    tcase_add_test(tc, a_cause_outside_is_given_hours_and_a_final_one_nothing);
    tcase_add_loop_test(
        tc, the_delay_doubles_and_is_jittered_between_half_and_whole, 0, ARRAY_LEN(delay_cases));
    tcase_add_test(tc, what_never_reports_is_given_up_in_the_end);
    suite_add_tcase(suite, tc);
    return suite;
}
