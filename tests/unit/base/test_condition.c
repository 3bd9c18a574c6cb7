/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/condition.c and of clock_timespec.
 */
#include "base/clock.h"
#include "base/condition.h"
#include "base/macros.h"

#include <check.h>

static const struct time_case {
    int64_t us, seconds, nanos;
} time_cases[] = {
    { 0, 0, 0 },
    { 1, 0, 1000 },
    { 999999, 0, 999999000 },
    { 1000000, 1, 0 },
    { INT64_C(1700000000123456), 1700000000, 123456000 },
};

START_TEST(a_time_has_seconds_and_nanoseconds)
{
    const struct time_case *c = &time_cases[_i];

    struct timespec time = clock_timespec(c->us);

    ck_assert_int_eq(time.tv_sec, c->seconds);
    ck_assert_int_eq(time.tv_nsec, c->nanos);
}
END_TEST

struct door {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_open;
};

static void door_init(struct door *door)
{
    *door = (struct door){ .mutex = PTHREAD_MUTEX_INITIALIZER };
    condition_init(&door->changed);
}

START_TEST(a_deadline_ends_a_wait)
{
    int64_t deadline_us = clock_monotonic_us() + 20000;
    struct door door;

    door_init(&door);
    pthread_mutex_lock(&door.mutex);
    while (condition_wait_until(&door.changed, &door.mutex, deadline_us))
        continue;

    ck_assert_int_ge(clock_monotonic_us(), deadline_us);
    pthread_mutex_unlock(&door.mutex);
}
END_TEST

static void *open_door(void *context)
{
    struct door *door = context;

    pthread_mutex_lock(&door->mutex);
    door->is_open = true;
    pthread_cond_signal(&door->changed);
    pthread_mutex_unlock(&door->mutex);
    return NULL;
}

START_TEST(a_signal_ends_a_wait_before_its_deadline)
{
    int64_t deadline_us = clock_monotonic_us() + INT64_C(60) * 1000000;
    struct door door;
    pthread_t thread;
    bool is_in_time = true;

    door_init(&door);
    pthread_mutex_lock(&door.mutex);
    ck_assert_int_eq(pthread_create(&thread, NULL, open_door, &door), 0);
    while (!door.is_open && is_in_time)
        is_in_time = condition_wait_until(&door.changed, &door.mutex, deadline_us);
    pthread_mutex_unlock(&door.mutex);
    pthread_join(thread, NULL);

    ck_assert(door.is_open);
    ck_assert(is_in_time);
}
END_TEST

Suite *test_condition_suite(void)
{
    Suite *suite = suite_create("condition");
    TCase *tc = tcase_create("condition");

    tcase_add_loop_test(tc, a_time_has_seconds_and_nanoseconds, 0, ARRAY_LEN(time_cases));
    tcase_add_test(tc, a_deadline_ends_a_wait);
    tcase_add_test(tc, a_signal_ends_a_wait_before_its_deadline);
    suite_add_tcase(suite, tc);
    return suite;
}
