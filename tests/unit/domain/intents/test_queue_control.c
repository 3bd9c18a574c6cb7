/* SPDX-License-Identifier: Apache-2.0 */
/* test_queue_control.c - the state of a queue, and how long its work will take. */
#include "domain/intents/queue_control.h"

#include <check.h>

START_TEST(a_drained_queue_is_paused)
{
    static const struct {
        int64_t intents_before_us, oldest_us;
        enum work_state want;
    } cases[] = { { INT64_MAX, 0, WORK_RUNNING }, { INT64_MAX, 5, WORK_RUNNING }, { 0, 0, WORK_PAUSED },
        { 0, 5, WORK_PAUSED }, { 10, 0, WORK_PAUSED }, { 10, 9, WORK_DRAINING }, { 10, 10, WORK_PAUSED } };
    const struct queue_control control = { .intents_before_us = cases[_i].intents_before_us };

    ck_assert_int_eq(work_state_of(&control, cases[_i].oldest_us), cases[_i].want);
}
END_TEST

START_TEST(the_time_to_fresh_is_what_is_open_at_this_pace)
{
    ck_assert_int_eq(queue_control_time_to_fresh_us(0, 0), 0);
    ck_assert_int_eq(queue_control_time_to_fresh_us(10, 4), 2500000);
    ck_assert_int_lt(queue_control_time_to_fresh_us(1, 0), 0);
    ck_assert_int_lt(queue_control_time_to_fresh_us(1, 1e-12), 0);
}
END_TEST

START_TEST(every_kind_of_work_of_a_queue_has_its_place)
{
    ck_assert_int_eq(queue_slot(0, 1), 0);
    ck_assert_int_eq(queue_slot(3, 2), 3 * WORK_KINDS + 1);
    ck_assert_int_lt(queue_slot(0, 0), 0);
    ck_assert_int_lt(queue_slot(0, WORK_KINDS + 1), 0);
    ck_assert_int_lt(queue_slot(MAX_QUEUES, 1), 0);
    ck_assert_int_eq(queue_control_queue_of(9, 4), 1);
}
END_TEST

Suite *test_queue_control_suite(void)
{
    Suite *suite = suite_create("queue_control");
    TCase *tc = tcase_create("queue_control");

    tcase_add_loop_test(tc, a_drained_queue_is_paused, 0, 7);
    tcase_add_test(tc, the_time_to_fresh_is_what_is_open_at_this_pace);
    tcase_add_test(tc, every_kind_of_work_of_a_queue_has_its_place);
    suite_add_tcase(suite, tc);
    return suite;
}
