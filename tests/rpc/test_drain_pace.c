/* SPDX-License-Identifier: Apache-2.0 */
/* test_drain_pace.c - when a queue thread stops handling events. */
#include "rpc/drain_pace.h"

#include <check.h>

enum { MS = 1000 };

/* As many events as there are, without an end of the queue. */
static void find(struct drain_pace *pace, int events)
{
    while (events-- > 0)
        drain_pace_polled(pace, true);
}

/* Polls that find nothing, until the drain is over. */
static int polls_at_the_end(struct drain_pace *pace)
{
    int polls = 0;

    while (!drain_pace_is_over(pace, 0, 0)) {
        drain_pace_polled(pace, false);
        polls++;
    }
    return polls;
}

/* A whole drain of so many events, which begins at now_us and finds the end of the queue. */
static void drain_to_the_end(struct drain_pace *pace, int64_t now_us, int events, int open_calls)
{
    drain_pace_begin(pace, now_us);
    find(pace, events - 1);
    (void)polls_at_the_end(pace);
    drain_pace_end(pace, open_calls);
}

START_TEST(an_empty_queue_is_polled_several_times)
{
    struct drain_pace pace = { 0 };

    drain_pace_begin(&pace, 0);
    find(&pace, 1);
    ck_assert_int_eq(polls_at_the_end(&pace), DRAIN_GRACE_POLLS);
}
END_TEST

START_TEST(an_event_begins_the_polls_anew)
{
    struct drain_pace pace = { 0 };

    drain_pace_begin(&pace, 0);
    find(&pace, 1);
    drain_pace_polled(&pace, false);
    find(&pace, 1);
    ck_assert_int_eq(polls_at_the_end(&pace), DRAIN_GRACE_POLLS);
}
END_TEST

START_TEST(one_poll_is_enough_for_a_caller_that_is_alone)
{
    struct drain_pace pace = { 0 };

    drain_pace_begin(&pace, 0);
    ck_assert_int_eq(polls_at_the_end(&pace), DRAIN_GRACE_POLLS_ALONE);
    drain_pace_end(&pace, 1);
    drain_to_the_end(&pace, 1, 2, 2);
    drain_pace_begin(&pace, 2);
    ck_assert_int_eq(polls_at_the_end(&pace), DRAIN_GRACE_POLLS);
}
END_TEST

START_TEST(answers_that_wait_end_a_drain)
{
    struct drain_pace pace = { 0 };

    drain_to_the_end(&pace, 0, 10, 10);
    drain_pace_begin(&pace, MS);
    find(&pace, DRAIN_EVENTS_ANSWERS_WAIT - 2);
    ck_assert(!drain_pace_is_over(&pace, 0, 1));
    find(&pace, 1);
    ck_assert(drain_pace_is_over(&pace, 0, 1));
    ck_assert(!drain_pace_is_over(&pace, 0, 0));
    find(&pace, DRAIN_EVENTS_MAX - DRAIN_EVENTS_ANSWERS_WAIT);
    ck_assert(drain_pace_is_over(&pace, 0, 0));
}
END_TEST

START_TEST(refusals_count_as_several_events)
{
    struct drain_pace pace = { 0 };

    drain_to_the_end(&pace, 0, 10, 10);
    drain_pace_begin(&pace, MS);
    find(&pace, 9);
    ck_assert(!drain_pace_is_over(&pace, 1, 1));
    ck_assert(drain_pace_is_over(&pace, DRAIN_EVENTS_ANSWERS_WAIT / DRAIN_EVENTS_PER_REFUSAL, 1));
    ck_assert(drain_pace_is_over(&pace, DRAIN_EVENTS_MAX / DRAIN_EVENTS_PER_REFUSAL, 0));
}
END_TEST

START_TEST(with_many_open_calls_all_is_read_before_answers_are_sent)
{
    struct drain_pace pace = { 0 };

    drain_to_the_end(&pace, 0, 10, DRAIN_OVERLOAD_CALLS);
    drain_pace_begin(&pace, MS);
    find(&pace, DRAIN_EVENTS_MAX - 2);
    ck_assert(!drain_pace_is_over(&pace, 0, 1));
    find(&pace, 1);
    ck_assert(drain_pace_is_over(&pace, 0, 1));
    /* the end was not reached, so how many are open now says nothing */
    drain_pace_end(&pace, 1);
    drain_pace_begin(&pace, 2 * MS);
    ck_assert(pace.overload);
    (void)polls_at_the_end(&pace);
    drain_pace_end(&pace, 1);
    drain_pace_begin(&pace, 3 * MS);
    ck_assert(!pace.overload);
}
END_TEST

START_TEST(a_queue_without_an_end_becomes_an_overload)
{
    const int64_t begin_us = 10 * DRAIN_OVERLOAD_US;
    struct drain_pace pace = { 0 };

    drain_to_the_end(&pace, begin_us, 10, 10);
    for (int64_t now_us = begin_us; now_us <= begin_us + DRAIN_OVERLOAD_US; now_us += MS) {
        drain_pace_begin(&pace, now_us);
        ck_assert(!pace.overload);
        find(&pace, DRAIN_EVENTS_ANSWERS_WAIT);
        ck_assert(drain_pace_is_over(&pace, 0, 1));
        drain_pace_end(&pace, 10);
    }
    drain_pace_begin(&pace, begin_us + DRAIN_OVERLOAD_US + 1);
    find(&pace, DRAIN_EVENTS_ANSWERS_WAIT);
    ck_assert(!drain_pace_is_over(&pace, 0, 1));
}
END_TEST

START_TEST(a_pause_is_no_overload)
{
    struct drain_pace pace = { 0 };

    drain_pace_begin(&pace, 100 * DRAIN_OVERLOAD_US);
    ck_assert(!pace.overload);
    (void)polls_at_the_end(&pace);
    drain_pace_end(&pace, 1);
    drain_pace_begin(&pace, 200 * DRAIN_OVERLOAD_US);
    ck_assert(!pace.overload);
    find(&pace, DRAIN_EVENTS_BEGIN - 1);
    ck_assert(drain_pace_may_begin(&pace));
}
END_TEST

/* How often what was collected may begin within a drain of so many events. */
static int times_begun(struct drain_pace *pace, int events)
{
    int times = drain_pace_may_begin(pace);

    while (--events > 0) {
        drain_pace_polled(pace, true);
        times += drain_pace_may_begin(pace);
    }
    return times;
}

START_TEST(what_was_collected_begins_within_a_long_drain)
{
    struct drain_pace pace = { 0 };

    drain_to_the_end(&pace, 0, 10, 10);
    drain_pace_begin(&pace, MS);
    ck_assert_int_eq(times_begun(&pace, DRAIN_EVENTS_BEGIN - 1), 0);
    find(&pace, 1);
    ck_assert(drain_pace_may_begin(&pace));
    drain_pace_polled(&pace, false);
    ck_assert(!drain_pace_may_begin(&pace));
    drain_pace_begin(&pace, 2 * MS);
    ck_assert_int_eq(times_begun(&pace, 10 * DRAIN_EVENTS_BEGIN), 10);
}
END_TEST

START_TEST(in_an_overload_nothing_begins_within_a_drain)
{
    struct drain_pace pace = { 0 };

    drain_to_the_end(&pace, 0, 10, DRAIN_OVERLOAD_CALLS);
    drain_pace_begin(&pace, MS);
    ck_assert_int_eq(times_begun(&pace, 10 * DRAIN_EVENTS_BEGIN), 0);
}
END_TEST

Suite *test_drain_pace_suite(void)
{
    Suite *suite = suite_create("drain_pace");
    TCase *tcase = tcase_create("drain_pace");

    tcase_add_test(tcase, what_was_collected_begins_within_a_long_drain);
    tcase_add_test(tcase, in_an_overload_nothing_begins_within_a_drain);
    tcase_add_test(tcase, an_empty_queue_is_polled_several_times);
    tcase_add_test(tcase, an_event_begins_the_polls_anew);
    tcase_add_test(tcase, one_poll_is_enough_for_a_caller_that_is_alone);
    tcase_add_test(tcase, answers_that_wait_end_a_drain);
    tcase_add_test(tcase, refusals_count_as_several_events);
    tcase_add_test(tcase, with_many_open_calls_all_is_read_before_answers_are_sent);
    tcase_add_test(tcase, a_queue_without_an_end_becomes_an_overload);
    tcase_add_test(tcase, a_pause_is_no_overload);
    suite_add_tcase(suite, tcase);
    return suite;
}
