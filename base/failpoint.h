/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failpoint.h - named points at which a test makes the program die, stand still or fail.
 *
 * They exist in builds with -DTAVOLA_FAILPOINTS=ON. In other builds the macros are empty and the
 * two settings unknown.
 *
 *   TAVOLA_FAILPOINT      "name:action:n": at the n-th time this process passes the point (n from 1; 1 when
 *                         left out). kill: SIGKILL; stop: SIGSTOP, the whole process, until SIGCONT;
 *                         error: the call fails with UNAVAILABLE once, where the point can fail
 *   TAVOLA_FAILPOINT_LOG  a file to which every passage of any point appends a line with its name
 */
#ifndef BASE_FAILPOINT_H
#define BASE_FAILPOINT_H

#include <stdbool.h>

#include "base/error.h"

#ifdef TAVOLA_FAILPOINTS

#define FAILPOINTS_ARE_BUILT_IN true

/* Does what TAVOLA_FAILPOINT says: kills or stops the process or, if err is not NULL, fails. */
enum status failpoint_pass(const char *name, struct error *err);

#define FAILPOINT(name) ((void)failpoint_pass((name), NULL))
#define FAILPOINT_TRY(name, err) TRY(failpoint_pass((name), (err)))

/*
 * Members for a program's settings struct, and their rows of the table. failpoint.c reads the
 * values itself.
 */
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

#define FAILPOINTS_ARE_BUILT_IN false
#define FAILPOINT(name) ((void)0)
#define FAILPOINT_TRY(name, err) ((void)0)
#define FAILPOINT_FIELDS
#define FAILPOINT_SETTINGS(config)

#endif

#endif
