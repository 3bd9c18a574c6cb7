/* SPDX-License-Identifier: Apache-2.0 */
/* test_help_pace.c - when one more thread helps those that serve the queue. */
#include "rpc/help_pace.h"

#include <check.h>

enum { MS = 1000, BEGIN_US = 1000 * MS };

static int64_t now_us, cpu_us;

/* A window of this length in which all threads used so much of one processor. */
static bool pass(struct help_pace *pace, int64_t us, int percent)
{
    now_us += us;
    cpu_us += us * percent / 100;
    return help_pace_note(pace, now_us, cpu_us);
}

static struct help_pace begun(int threads)
{
    struct help_pace pace = { .threads = threads };

    now_us = BEGIN_US;
    cpu_us = 7 * MS;
    ck_assert(help_pace_is_due(&pace, now_us));
    ck_assert(!help_pace_note(&pace, now_us, cpu_us));
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
    tcase_add_test(tcase, clocks_are_read_once_in_a_window);
    suite_add_tcase(suite, tcase);
    return suite;
}
