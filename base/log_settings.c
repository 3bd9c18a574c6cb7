/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_settings.c - see the header.
 */
#include "base/log_settings.h"

const char *const log_level_names[] = { "debug", "info", "warn", "error", NULL };
const char *const log_format_names[] = { "logfmt", "json", NULL };

void log_settings_apply(const struct log_settings *settings, const char *program)
{
    log_init(program, (enum log_level)settings->level, (enum log_format)settings->format);
}

void log_settings_add_signals(sigset_t *set)
{
    sigaddset(set, SIGUSR1);
    sigaddset(set, SIGUSR2);
}

bool log_settings_take_signal(const struct log_settings *settings, int signal)
{
    enum log_level level = signal == SIGUSR1 ? LOG_DEBUG : (enum log_level)settings->level;

    if (signal != SIGUSR1 && signal != SIGUSR2)
        return false;
    log_set_level(level);
    log_event(LOG_INFO, "log_level", log_text("log_level", log_level_names[level]));
    return true;
}
