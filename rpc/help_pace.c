/* SPDX-License-Identifier: Apache-2.0 */
/* help_pace.c - see the header. */
#include "rpc/help_pace.h"

bool help_pace_is_due(const struct help_pace *pace, int64_t now_us)
{
    return now_us - pace->begun_us >= (pace->helping ? HELP_IDLE_WINDOW_US : HELP_WINDOW_US);
}

static bool used_at_least(const struct help_pace *pace, int percent, int64_t cpu_us, int64_t us)
{
    return (cpu_us - pace->cpu_us) * 100 >= us * percent * pace->threads;
}

bool help_pace_note(struct help_pace *pace, int64_t now_us, int64_t cpu_us)
{
    int64_t us = now_us - pace->begun_us;

    if (pace->helping) {
        pace->helping = used_at_least(pace, HELP_IDLE_PERCENT, cpu_us, us);
    } else if (pace->begun_us > 0) {
        pace->busy_us = used_at_least(pace, HELP_BUSY_PERCENT, cpu_us, us) ? pace->busy_us + us : 0;
        pace->helping = pace->busy_us >= HELP_AFTER_US;
    }
    if (pace->helping)
        pace->busy_us = 0;
    pace->begun_us = now_us;
    pace->cpu_us = cpu_us;
    return pace->helping;
}
