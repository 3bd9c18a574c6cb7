/* SPDX-License-Identifier: Apache-2.0 */
/* rest_pace.c - see the header. */
#include "rpc/rest_pace.h"

bool rest_pace_is_due(const struct rest_pace *pace, int64_t now_us)
{
    return now_us - pace->begun_us >= REST_WINDOW_US;
}

static struct rest_times difference(struct rest_times now, struct rest_times before)
{
    return (struct rest_times){ now.waited_us - before.waited_us, now.rested_us - before.rested_us,
        now.drains - before.drains, now.events - before.events };
}

/* us: the length of the window; window: the times within it. */
static bool must_rest(bool rests, int64_t us, struct rest_times window, int waiting)
{
    int parts = rests ? 2 : 1;          /* of the bounds: half of them is enough to go on */
    int64_t drains = window.drains + 1; /* one may have begun before the window, or end after it */
    int64_t max_events = drains * (rests ? REST_ON_MAX_EVENTS : REST_MAX_EVENTS);

    return waiting * parts >= REST_MIN_WAITING && window.events < max_events &&
           window.waited_us * 100 * parts >= (us - window.rested_us) * REST_MIN_WAITED_PERCENT;
}

void rest_pace_note(struct rest_pace *pace, int64_t now_us, struct rest_times times, int waiting)
{
    if (pace->begun_us > 0)
        pace->resting =
            must_rest(pace->resting, now_us - pace->begun_us, difference(times, pace->times), waiting);
    pace->begun_us = now_us;
    pace->times = times;
}
