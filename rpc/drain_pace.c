/* SPDX-License-Identifier: Apache-2.0 */
/* drain_pace.c - see the header. */
#include "rpc/drain_pace.h"

static bool is_alone(const struct drain_pace *pace)
{
    return pace->events == 1 && !pace->others_came;
}

static bool has_reached_end(const struct drain_pace *pace)
{
    return pace->empty >= (is_alone(pace) ? DRAIN_GRACE_POLLS_ALONE : DRAIN_GRACE_POLLS);
}

void drain_pace_begin(struct drain_pace *pace, int64_t now_us)
{
    pace->events = 1;
    pace->empty = 0;
    if (!pace->end_missed)
        pace->missed_us = now_us;
    pace->overload = pace->many_open || now_us - pace->missed_us > DRAIN_OVERLOAD_US;
}

void drain_pace_polled(struct drain_pace *pace, bool found)
{
    pace->events += found;
    pace->empty = found ? 0 : pace->empty + 1;
}

bool drain_pace_is_over(const struct drain_pace *pace, int refused, int unsent)
{
    int events = pace->events + DRAIN_EVENTS_PER_REFUSAL * refused;

    if (has_reached_end(pace) || events >= DRAIN_EVENTS_MAX)
        return true;
    return events >= DRAIN_EVENTS_ANSWERS_WAIT && unsent > 0 && !pace->overload;
}

bool drain_pace_may_begin(const struct drain_pace *pace)
{
    return !pace->overload && pace->empty == 0 && pace->events % DRAIN_EVENTS_BEGIN == 0;
}

void drain_pace_end(struct drain_pace *pace, int open_calls)
{
    pace->end_missed = !has_reached_end(pace);
    if (!pace->end_missed)
        pace->many_open = open_calls >= DRAIN_OVERLOAD_CALLS;
    pace->others_came = pace->events > 1;
}
