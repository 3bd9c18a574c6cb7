/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failpoint.h - named points at which a test makes the program die, stand still or fail.
 *
 * Only in builds with -DTAVOLA_FAILPOINTS=ON; elsewhere the macros are nothing and the two settings are
 * unknown. In such builds:
 *
 *   TAVOLA_FAILPOINT      "name:action:n": at the n-th time this process passes the point (n from 1; 1 when
 *                         left out). kill: SIGKILL; stop: SIGSTOP, the whole process, until SIGCONT;
 *                         error: the call fails with UNAVAILABLE once, where the point can fail
 *   TAVOLA_FAILPOINT_LOG  a file to which every passage of any point appends a line with its name
 */
#ifndef BASE_FAILPOINT_H
#define BASE_FAILPOINT_H

#include "base/error.h"

#ifdef TAVOLA_FAILPOINTS

/* May kill or stop; with err not NULL, may fail. */
enum status failpoint_pass(const char *name, struct error *err);

#define FAILPOINT(name) ((void)failpoint_pass((name), NULL))
#define FAILPOINT_TRY(name, err) TRY(failpoint_pass((name), (err)))

/* Fields for a program's settings struct, and their rows; the values are read by failpoint.c itself. */
#define FAILPOINT_FIELDS                                                                                     \
    const char *failpoint;                                                                                   \
    const char *failpoint_log;
#define FAILPOINT_SETTINGS(config)                                                                           \
    { .name = "TAVOLA_FAILPOINT",                                                                            \
        .type = CONFIG_STRING,                                                                               \
        .offset = offsetof(config, failpoint),                                                               \
        .help = "for tests: name:action:n, action one of kill, stop, error" },                               \
        { .name = "TAVOLA_FAILPOINT_LOG",                                                                    \
            .type = CONFIG_STRING,                                                                           \
            .offset = offsetof(config, failpoint_log),                                                       \
            .help = "for tests: a file that gets a line per point passed" },

#else

#define FAILPOINT(name) ((void)0)
#define FAILPOINT_TRY(name, err) ((void)0)
#define FAILPOINT_FIELDS
#define FAILPOINT_SETTINGS(config)

#endif

#endif
