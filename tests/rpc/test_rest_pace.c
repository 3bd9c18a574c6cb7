/* SPDX-License-Identifier: Apache-2.0 */
/* test_rest_pace.c - when the threads that serve the queue rest after a drain. */
#include "rpc/rest_pace.h"

#include <check.h>

enum { MS = 1000, BEGIN_US = 1000 * MS, WINDOW_US = 2 * REST_WINDOW_US, FEW = REST_MAX_EVENTS };

static const struct rest_times before = { 5 * MS, 3 * MS, 1000, 1000 };

static struct rest_pace begun(void)
{
    struct rest_pace pace = { 0 };

    ck_assert(rest_pace_is_due(&pace, BEGIN_US));
    rest_pace_note(&pace, BEGIN_US, before, REST_MIN_WAITING);
    ck_assert(!pace.resting);
    return pace;
}

/* Whether threads rest after a window of 100 ms with these times in it. */
static bool rests_after(struct rest_pace *pace, struct rest_times window, int waiting)
{
    struct rest_times now = { pace->times.waited_us + window.waited_us,
        pace->times.rested_us + window.rested_us, pace->times.drains + window.drains,
        pace->times.events + window.events };

    rest_pace_note(pace, pace->begun_us + WINDOW_US, now, waiting);
    return pace->resting;
}

static const struct rest_times overload = { 10 * MS, 0, 20, 200 };

struct window {
    const char *title;
    struct rest_times times; /* of 100 ms */
    int waiting;
    bool rests;
};

static const struct window first[] = {
    { "many drains of few events, a processor is missing", { 10 * MS, 0, 20, 200 }, REST_MIN_WAITING, true },
    { "few calls wait for the lanes", { 10 * MS, 0, 20, 200 }, REST_MIN_WAITING - 1, false },
    { "a processor is free", { 10 * MS - 1, 0, 20, 200 }, REST_MIN_WAITING, false },
    { "drains of many events", { 50 * MS, 0, 3, 4 * FEW }, REST_MIN_WAITING, false },
    { "drains of just few enough", { 50 * MS, 0, 3, 4 * FEW - 1 }, REST_MIN_WAITING, true },
    { "the midst of a drain of many events", { 50 * MS, 0, 0, FEW }, REST_MIN_WAITING, false },
    { "the midst of a drain of few", { 50 * MS, 0, 0, FEW - 1 }, REST_MIN_WAITING, true },
};

START_TEST(threads_rest_if_they_come_too_often)
{
    struct rest_pace pace = begun();

    ck_assert_msg(
        rests_after(&pace, first[_i].times, first[_i].waiting) == first[_i].rests, "%s", first[_i].title);
}
END_TEST

static const struct window later[] = {
    { "half of the bounds is left", { 5 * MS, 0, 20, 200 }, REST_MIN_WAITING / 2, true },
    { "the overload is over", { 5 * MS, 0, 20, 200 }, REST_MIN_WAITING / 2 - 1, false },
    { "a processor is free", { 5 * MS - 1, 0, 20, 200 }, REST_MIN_WAITING, false },
    { "waits between rests, of the time that is left", { 1 * MS, 80 * MS, 20, 200 }, REST_MIN_WAITING, true },
    { "fewer of them", { 1 * MS - 1, 80 * MS, 20, 200 }, REST_MIN_WAITING, false },
    { "more events, since threads rest", { 5 * MS, 0, 1, 2 * REST_ON_MAX_EVENTS - 1 }, REST_MIN_WAITING,
        true },
    { "so many that rests are not needed", { 5 * MS, 0, 1, 2 * REST_ON_MAX_EVENTS }, REST_MIN_WAITING,
        false },
};

START_TEST(they_rest_until_a_processor_is_free)
{
    struct rest_pace pace = begun();

    ck_assert(rests_after(&pace, overload, REST_MIN_WAITING));
    ck_assert_msg(
        rests_after(&pace, later[_i].times, later[_i].waiting) == later[_i].rests, "%s", later[_i].title);
}
END_TEST

START_TEST(it_is_decided_once_in_a_window)
{
    struct rest_pace pace = begun();

    ck_assert(!rest_pace_is_due(&pace, BEGIN_US + REST_WINDOW_US - 1));
    ck_assert(rest_pace_is_due(&pace, BEGIN_US + REST_WINDOW_US));
}
END_TEST

Suite *test_rest_pace_suite(void)
{
    Suite *suite = suite_create("rest_pace");
    TCase *tcase = tcase_create("rest_pace");

    tcase_add_loop_test(tcase, threads_rest_if_they_come_too_often, 0, sizeof(first) / sizeof(*first));
    tcase_add_loop_test(tcase, they_rest_until_a_processor_is_free, 0, sizeof(later) / sizeof(*later));
    tcase_add_test(tcase, it_is_decided_once_in_a_window);
    suite_add_tcase(suite, tcase);
    return suite;
}
