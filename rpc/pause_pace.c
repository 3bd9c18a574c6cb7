/* SPDX-License-Identifier: Apache-2.0 */
/* pause_pace.c - see the header. */
#include "rpc/pause_pace.h"

bool pause_pace_is_due(const struct pause_pace *pace, int64_t now_us)
{
    return now_us - pace->begun_us >= PAUSE_WINDOW_US;
}

static struct pause_times difference(struct pause_times now, struct pause_times before)
{
    return (struct pause_times){ now.waited_us - before.waited_us, now.paused_us - before.paused_us,
        now.drains - before.drains, now.events - before.events };
}

/* us: the length of the window; window: the times within it. */
static bool must_pause(const struct pause_pace *pace, int64_t us, struct pause_times window, int operations)
{
    int parts = pace->pausing ? 2 : 1;  /* of the minima: half of them is enough to go on */
    int64_t drains = window.drains + 1; /* one may have begun before the window, or end after it */
    int64_t max_events = drains * (pace->pausing ? PAUSE_ON_MAX_EVENTS : PAUSE_MAX_EVENTS);
    int64_t awake_us = us * pace->threads - window.paused_us;

    if (awake_us < us / 10)
        awake_us = us / 10; /* a helper may have paused, too, for a part of the window */
    return operations * parts >= PAUSE_MIN_OPERATIONS && window.events < max_events &&
           window.waited_us * 100 * parts >= awake_us * PAUSE_MIN_WAIT_PERCENT;
}

void pause_pace_note(struct pause_pace *pace, int64_t now_us, struct pause_times times, int operations)
{
    if (pace->begun_us > 0)
        pace->pausing = must_pause(pace, now_us - pace->begun_us, difference(times, pace->times), operations);
    pace->begun_us = now_us;
    pace->times = times;
}
