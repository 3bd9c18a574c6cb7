/* SPDX-License-Identifier: Apache-2.0 */
/* test_pause_pace.c - when the threads that serve the queue pause after a drain. */
#include "rpc/pause_pace.h"

#include <check.h>

enum { MS = 1000, BEGIN_US = 1000 * MS, WINDOW_US = 2 * PAUSE_WINDOW_US, FEW = PAUSE_MAX_EVENTS };

static const struct pause_times before = { 5 * MS, 3 * MS, 1000, 1000 };

static struct pause_pace begun(void)
{
    struct pause_pace pace = { .threads = 1 };

    ck_assert(pause_pace_is_due(&pace, BEGIN_US));
    pause_pace_note(&pace, BEGIN_US, before, PAUSE_MIN_OPERATIONS);
    ck_assert(!pace.pausing);
    return pace;
}

/* Whether threads pause after a window of 100 ms with these times in it. */
static bool pauses_after(struct pause_pace *pace, struct pause_times window, int waiting)
{
    struct pause_times now = { pace->times.waited_us + window.waited_us,
        pace->times.paused_us + window.paused_us, pace->times.drains + window.drains,
        pace->times.events + window.events };

    pause_pace_note(pace, pace->begun_us + WINDOW_US, now, waiting);
    return pace->pausing;
}

static const struct pause_times overload = { 10 * MS, 0, 20, 200 };

struct window {
    const char *title;
    struct pause_times times; /* of 100 ms */
    int waiting;
    bool pauses;
};

static const struct window first[] = {
    { "many drains of few events, a processor is missing", { 10 * MS, 0, 20, 200 }, PAUSE_MIN_OPERATIONS,
        true },
    { "few calls wait for the lanes", { 10 * MS, 0, 20, 200 }, PAUSE_MIN_OPERATIONS - 1, false },
    { "a processor is free", { 10 * MS - 1, 0, 20, 200 }, PAUSE_MIN_OPERATIONS, false },
    { "drains of many events", { 50 * MS, 0, 3, 4 * FEW }, PAUSE_MIN_OPERATIONS, false },
    { "drains of just few enough", { 50 * MS, 0, 3, 4 * FEW - 1 }, PAUSE_MIN_OPERATIONS, true },
    { "the midst of a drain of many events", { 50 * MS, 0, 0, FEW }, PAUSE_MIN_OPERATIONS, false },
    { "the midst of a drain of few", { 50 * MS, 0, 0, FEW - 1 }, PAUSE_MIN_OPERATIONS, true },
};

START_TEST(threads_pause_if_they_come_too_often)
{
    struct pause_pace pace = begun();

    ck_assert_msg(
        pauses_after(&pace, first[_i].times, first[_i].waiting) == first[_i].pauses, "%s", first[_i].title);
}
END_TEST

static const struct window later[] = {
    { "half of the bounds is left", { 5 * MS, 0, 20, 200 }, PAUSE_MIN_OPERATIONS / 2, true },
    { "the overload is over", { 5 * MS, 0, 20, 200 }, PAUSE_MIN_OPERATIONS / 2 - 1, false },
    { "a processor is free", { 5 * MS - 1, 0, 20, 200 }, PAUSE_MIN_OPERATIONS, false },
    { "waits between pauses, of the time that is left", { 1 * MS, 80 * MS, 20, 200 }, PAUSE_MIN_OPERATIONS,
        true },
    { "fewer of them", { 1 * MS - 1, 80 * MS, 20, 200 }, PAUSE_MIN_OPERATIONS, false },
    { "more pauses than time, no waits", { MS / 2 - 1, 120 * MS, 20, 200 }, PAUSE_MIN_OPERATIONS, false },
    { "more events, since threads pause", { 5 * MS, 0, 1, 2 * PAUSE_ON_MAX_EVENTS - 1 }, PAUSE_MIN_OPERATIONS,
        true },
    { "so many that pauses are not needed", { 5 * MS, 0, 1, 2 * PAUSE_ON_MAX_EVENTS }, PAUSE_MIN_OPERATIONS,
        false },
};

START_TEST(they_pause_until_a_processor_is_free)
{
    struct pause_pace pace = begun();

    ck_assert(pauses_after(&pace, overload, PAUSE_MIN_OPERATIONS));
    ck_assert_msg(
        pauses_after(&pace, later[_i].times, later[_i].waiting) == later[_i].pauses, "%s", later[_i].title);
}
END_TEST

/* The times are those of all threads, and so is the time that they have. */
START_TEST(two_threads_have_twice_the_time)
{
    struct pause_pace pace = { .threads = 2 };

    pause_pace_note(&pace, BEGIN_US, before, PAUSE_MIN_OPERATIONS);
    ck_assert(!pauses_after(&pace, (struct pause_times){ 20 * MS - 1, 0, 20, 200 }, PAUSE_MIN_OPERATIONS));
    ck_assert(pauses_after(&pace, (struct pause_times){ 20 * MS, 0, 20, 200 }, PAUSE_MIN_OPERATIONS));
    ck_assert(!pauses_after(&pace, (struct pause_times){ 2 * MS, 150 * MS, 20, 200 }, PAUSE_MIN_OPERATIONS));
}
END_TEST

START_TEST(it_is_decided_once_in_a_window)
{
    struct pause_pace pace = begun();

    ck_assert(!pause_pace_is_due(&pace, BEGIN_US + PAUSE_WINDOW_US - 1));
    ck_assert(pause_pace_is_due(&pace, BEGIN_US + PAUSE_WINDOW_US));
}
END_TEST

Suite *test_pause_pace_suite(void)
{
    Suite *suite = suite_create("pause_pace");
    TCase *tcase = tcase_create("pause_pace");

    tcase_add_loop_test(tcase, threads_pause_if_they_come_too_often, 0, sizeof(first) / sizeof(*first));
    tcase_add_loop_test(tcase, they_pause_until_a_processor_is_free, 0, sizeof(later) / sizeof(*later));
    tcase_add_test(tcase, two_threads_have_twice_the_time);
    tcase_add_test(tcase, it_is_decided_once_in_a_window);
    suite_add_tcase(suite, tcase);
    return suite;
}
