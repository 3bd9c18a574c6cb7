/* SPDX-License-Identifier: Apache-2.0 */
/* test_help_pace.c - when one more thread helps those that serve the queue. */
#include "rpc/help_pace.h"

#include <check.h>

enum { MS = 1000, BEGIN_US = 1000 * MS };

static int64_t now_us;
static struct help_times times;

/* A window of this length in which all threads used so much of one processor, and waited so long for it. */
static bool pass_late(
    struct help_pace *pace, int64_t us, int used_percent, int waited_percent, int open_calls)
{
    now_us += us;
    times.used_us += us * used_percent / 100;
    times.waited_us += us * waited_percent / 100;
    return help_pace_note(pace, now_us, times, open_calls);
}

/* The same with few calls: then it does not matter how long threads wait. */
static bool pass(struct help_pace *pace, int64_t us, int percent)
{
    return pass_late(pace, us, percent, 100, HELP_LATE_CALLS);
}

static struct help_pace begun(int threads)
{
    struct help_pace pace = { .threads = threads };

    now_us = BEGIN_US;
    times = (struct help_times){ 7 * MS, 5 * MS };
    ck_assert(help_pace_is_due(&pace, now_us));
    ck_assert(!help_pace_note(&pace, now_us, times, 0));
    return pace;
}

static struct help_pace helping(int threads)
{
    struct help_pace pace = begun(threads);

    ck_assert(pass(&pace, HELP_AFTER_US, 100 * threads));
    return pace;
}

static const struct {
    const char *title;
    int threads;
    struct {
        int64_t us;
        int percent;
    } windows[4];
    bool helps;
} cases[] = {
    { "busy for long enough", 1, { { HELP_WINDOW_US, 90 }, { HELP_AFTER_US - HELP_WINDOW_US, 90 } }, true },
    { "busy for too short", 1, { { HELP_AFTER_US - 1, 100 } }, false },
    { "one long window", 1, { { 40 * MS, 95 } }, true },
    { "nearly busy", 1, { { 40 * MS, 89 }, { 40 * MS, 89 } }, false },
    { "a pause begins anew", 1, { { 19 * MS, 100 }, { 5 * MS, 10 }, { 19 * MS, 100 } }, false },
    { "and then busy", 1, { { 19 * MS, 100 }, { 5 * MS, 10 }, { 19 * MS, 100 }, { 5 * MS, 100 } }, true },
    { "two threads, one of them busy", 2, { { 40 * MS, 100 } }, false },
    { "two threads, both busy", 2, { { 40 * MS, 180 } }, true },
};

START_TEST(a_helper_begins_when_the_others_have_been_busy)
{
    struct help_pace pace = begun(cases[_i].threads);
    bool helps = false;

    for (int i = 0; i < 4 && cases[_i].windows[i].us > 0; i++) {
        ck_assert_msg(!helps, "%s: helps before window %d", cases[_i].title, i);
        helps = pass(&pace, cases[_i].windows[i].us, cases[_i].windows[i].percent);
    }
    ck_assert_msg(helps == cases[_i].helps, "%s", cases[_i].title);
    ck_assert(pace.helping == helps);
}
END_TEST

START_TEST(it_ends_when_all_together_use_less_than_one)
{
    struct help_pace pace = helping(1 + _i);

    ck_assert(pass(&pace, HELP_IDLE_WINDOW_US, HELP_IDLE_PERCENT * (1 + _i)));
    ck_assert(!pass(&pace, HELP_IDLE_WINDOW_US, HELP_IDLE_PERCENT * (1 + _i) - 1));
    /* and needs as long as ever to begin again */
    ck_assert(!pass(&pace, HELP_AFTER_US - 1, 100 * (1 + _i)));
    ck_assert(pass(&pace, 1, 100 * (1 + _i)));
}
END_TEST

enum { MANY = HELP_LATE_CALLS + 1, FEW = HELP_LATE_CALLS / 2 };

static const struct {
    const char *title;
    int threads, used_percent, waited_percent, calls;
    bool helps;
} late[] = {
    { "half of it on a processor", 1, 45, 45, MANY, true },
    { "all of it on a processor", 1, 90, 0, MANY, true },
    { "never on a processor", 1, 0, 90, MANY, true },
    { "with few calls", 1, 50, 50, HELP_LATE_CALLS, false },
    { "with pauses", 1, 45, 44, MANY, false },
    { "two threads, one of them", 2, 50, 50, MANY, false },
    { "two threads, both", 2, 90, 90, MANY, true },
};

START_TEST(a_helper_begins_when_the_others_are_late)
{
    struct help_pace pace = begun(late[_i].threads);

    ck_assert_msg(pass_late(&pace, HELP_WINDOW_US, late[_i].used_percent, late[_i].waited_percent,
                      late[_i].calls) == late[_i].helps,
        "%s", late[_i].title);
}
END_TEST

static const struct {
    const char *title;
    int used_percent, waited_percent, calls;
    bool helps;
} catching_up[] = {
    { "many calls, little time", 50, 50, MANY, true },
    { "more than half of many", 50, 50, FEW + 1, true },
    { "few calls", 100, 100, FEW, false },
    { "many calls that wait for something else", 40, 34, MANY, false },
};

START_TEST(it_ends_when_they_have_caught_up)
{
    struct help_pace pace = begun(1);

    ck_assert(pass_late(&pace, HELP_WINDOW_US, 50, 50, MANY));
    ck_assert(pass_late(&pace, HELP_IDLE_WINDOW_US, 50, 25, MANY));
    ck_assert_msg(pass_late(&pace, HELP_IDLE_WINDOW_US, catching_up[_i].used_percent,
                      catching_up[_i].waited_percent, catching_up[_i].calls) == catching_up[_i].helps,
        "%s", catching_up[_i].title);
}
END_TEST

/* Few calls that each cost much keep a helper that began because the others were busy, whatever their number. */
START_TEST(one_that_began_for_busy_threads_does_not_count_calls_or_waits)
{
    struct help_pace pace = begun(1);

    ck_assert(pass_late(&pace, HELP_AFTER_US, 100, 0, MANY));
    ck_assert(pass_late(&pace, HELP_IDLE_WINDOW_US, HELP_IDLE_PERCENT, 0, 0));
    ck_assert(!pass_late(&pace, HELP_IDLE_WINDOW_US, HELP_IDLE_PERCENT - 1, 100, MANY));
}
END_TEST

START_TEST(clocks_are_read_once_in_a_window)
{
    struct help_pace pace = begun(1);

    ck_assert(!help_pace_is_due(&pace, now_us + HELP_WINDOW_US - 1));
    ck_assert(help_pace_is_due(&pace, now_us + HELP_WINDOW_US));
    pace = helping(1);
    ck_assert(!help_pace_is_due(&pace, now_us + HELP_IDLE_WINDOW_US - 1));
    ck_assert(help_pace_is_due(&pace, now_us + HELP_IDLE_WINDOW_US));
}
END_TEST

Suite *test_help_pace_suite(void)
{
    Suite *suite = suite_create("help_pace");
    TCase *tcase = tcase_create("help_pace");

    tcase_add_loop_test(
        tcase, a_helper_begins_when_the_others_have_been_busy, 0, sizeof(cases) / sizeof(*cases));
    tcase_add_loop_test(tcase, it_ends_when_all_together_use_less_than_one, 0, 2);
    tcase_add_loop_test(tcase, a_helper_begins_when_the_others_are_late, 0, sizeof(late) / sizeof(*late));
    tcase_add_loop_test(
        tcase, it_ends_when_they_have_caught_up, 0, sizeof(catching_up) / sizeof(*catching_up));
    tcase_add_test(tcase, one_that_began_for_busy_threads_does_not_count_calls_or_waits);
    tcase_add_test(tcase, clocks_are_read_once_in_a_window);
    suite_add_tcase(suite, tcase);
    return suite;
}
