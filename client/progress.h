/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - shows the progress of a long command: a line on standard error that is overwritten, on a
 * terminal only.
 */
#ifndef CLIENT_PROGRESS_H
#define CLIENT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool is_shown;
    int64_t begun_us, shown_us;
    int64_t done_before; /* done by an earlier run, so not part of the rate */
};

void progress_init(struct progress *progress, int64_t done_before);

/* Show the progress, at most ten times a second. part, whole: in any unit; whole 0: not known. */
void progress_show(struct progress *progress, int64_t entities, int64_t part, int64_t whole);

/* Remove the line. */
void progress_clear(struct progress *progress);

/* Entities per second since the start. */
double progress_rate(const struct progress *progress, int64_t entities);

#endif
