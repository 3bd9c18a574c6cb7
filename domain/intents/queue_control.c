/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_control.c - see the header.
 */
#include "domain/intents/queue_control.h"

enum work_state work_state_of(const struct queue_control *control, int64_t oldest_us)
{
    if (control->intents_before_us == INT64_MAX)
        return WORK_RUNNING;
    return oldest_us > 0 && oldest_us < control->intents_before_us ? WORK_DRAINING : WORK_PAUSED;
}

int64_t queue_control_time_to_fresh_us(int64_t open_intents, double per_second)
{
    double us;

    if (open_intents == 0)
        return 0;
    us = per_second > 0 ? (double)open_intents / per_second * 1e6 : 1e18;
    return us < 1e15 ? (int64_t)us : -1; /* an estimate of more than thirty years is not useful */
}
