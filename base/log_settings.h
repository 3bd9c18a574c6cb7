/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_settings.h - the settings of a program's log, and the two signals that change its level while
 * it runs: SIGUSR1 logs everything (debug), SIGUSR2 goes back to the level of the setting.
 */
#ifndef BASE_LOG_SETTINGS_H
#define BASE_LOG_SETTINGS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/config.h"
#include "base/log.h"

struct log_settings {
    int level;  /* enum log_level */
    int format; /* enum log_format */
};

/* In the order of the enumerations, ended by NULL. */
extern const char *const log_level_names[];
extern const char *const log_format_names[];

/*
 * Rows of a program's table of settings; the program's struct has a member `struct log_settings
 * log`.
 */
#define LOG_SETTINGS(config)                                                                                 \
    { .name = "TAVOLA_LOG_LEVEL",                                                                            \
        .type = CONFIG_CHOICE,                                                                               \
        .offset = offsetof(config, log) + offsetof(struct log_settings, level),                              \
        .fallback = "info",                                                                                  \
        .choices = log_level_names,                                                                          \
        .help =                                                                                              \
            "the lowest level of the lines that are logged; SIGUSR1 changes it to debug, SIGUSR2 back" },    \
    {                                                                                                        \
        .name = "TAVOLA_LOG_FORMAT", .type = CONFIG_CHOICE,                                                  \
        .offset = offsetof(config, log) + offsetof(struct log_settings, format), .fallback = "logfmt",       \
        .choices = log_format_names, .help = "the form of the lines that are logged"                         \
    }

/* Call once at the start. Borrows program for the life of the process. */
void log_settings_apply(const struct log_settings *settings, const char *program);

/* Add the two signals to a set, for sigwait; every thread must block them. */
void log_settings_add_signals(sigset_t *set);

/* true: the signal was one of the two, and the level is changed. */
bool log_settings_take_signal(const struct log_settings *settings, int signal);

#endif
