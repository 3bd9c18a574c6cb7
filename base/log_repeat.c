/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_repeat.c - see the header.
 */
#include "base/log_repeat.h"

#include <stdio.h>
#include <string.h>

static bool is_due(const struct log_repeat *repeat, const char *cause, int64_t now_us)
{
    bool same = strncmp(repeat->cause, cause, sizeof(repeat->cause) - 1) == 0;
    int64_t pause_us = same ? LOG_REPEAT_REMINDER_US : LOG_REPEAT_CHANGE_US;

    return now_us - repeat->logged_us >= pause_us;
}

bool log_repeat_failed(struct log_repeat *repeat, const char *cause, int64_t now_us)
{
    bool first = repeat->failures == 0 || now_us - repeat->last_us > LOG_REPEAT_REMINDER_US;

    if (first)
        *repeat = (struct log_repeat){ .first_us = now_us };
    repeat->failures++;
    repeat->last_us = now_us;
    if (!first && !is_due(repeat, cause, now_us))
        return false;
    snprintf(repeat->cause, sizeof(repeat->cause), "%s", cause);
    repeat->logged_us = now_us;
    return true;
}

bool log_repeat_worked(struct log_repeat *repeat, int64_t now_us, struct log_repeat *ended)
{
    if (repeat->failures == 0 || now_us - repeat->last_us < LOG_REPEAT_CALM_US)
        return false;
    *ended = *repeat;
    *repeat = (struct log_repeat){ 0 };
    return true;
}
