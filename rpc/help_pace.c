/* SPDX-License-Identifier: Apache-2.0 */
/* help_pace.c - see the header. */
#include "rpc/help_pace.h"

bool help_pace_is_due(const struct help_pace *pace, int64_t now_us)
{
    return now_us - pace->begun_us >= (pace->helping ? HELP_IDLE_WINDOW_US : HELP_WINDOW_US);
}

/* A window that is over. */
struct window {
    int64_t us, used_us, waited_us;
    int64_t all_us; /* the processor time that all threads could have used */
    int open_calls;
};

static bool is_share(int percent, int64_t part_us, int64_t all_us)
{
    return part_us * 100 >= all_us * percent;
}

static void note_alone(struct help_pace *pace, const struct window *window)
{
    bool is_busy = is_share(HELP_BUSY_PERCENT, window->used_us, window->all_us);
    bool has_no_time = is_share(HELP_BUSY_PERCENT, window->used_us + window->waited_us, window->all_us);
    bool is_late = has_no_time && window->open_calls > HELP_LATE_CALLS;

    pace->busy_us = is_busy ? pace->busy_us + window->us : 0;
    pace->helping = is_late || pace->busy_us >= HELP_AFTER_US;
    pace->late = pace->busy_us < HELP_AFTER_US;
}

static void note_help(struct help_pace *pace, const struct window *window)
{
    int64_t part_us = window->used_us + (pace->late ? window->waited_us : 0);
    bool has_caught_up = pace->late && window->open_calls <= HELP_LATE_CALLS / 2;

    pace->busy_us = 0;
    pace->helping = !has_caught_up && is_share(HELP_IDLE_PERCENT, part_us, window->all_us);
}

bool help_pace_note(struct help_pace *pace, int64_t now_us, struct help_times times, int open_calls)
{
    int64_t us = now_us - pace->begun_us;
    struct window window = { us, times.used_us - pace->times.used_us, times.waited_us - pace->times.waited_us,
        us * pace->threads, open_calls };

    if (pace->helping)
        note_help(pace, &window);
    else if (pace->begun_us > 0)
        note_alone(pace, &window);
    pace->begun_us = now_us;
    pace->times = times;
    return pace->helping;
}
