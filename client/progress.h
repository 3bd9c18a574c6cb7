/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how far a long command has come: a line on standard error that is written again, on a terminal only.
 */
#ifndef CLIENT_PROGRESS_H
#define CLIENT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool is_shown;
    int64_t begun_us, shown_us;
    int64_t done_before; /* by an earlier run: no part of the rate */
};

void progress_init(struct progress *progress, int64_t done_before);

/* A tenth of a second after the last time at most. part, of whole: in any unit; whole 0: not known. */
void progress_show(struct progress *progress, int64_t entities, int64_t part, int64_t whole);

/* Remove the line. */
void progress_clear(struct progress *progress);

/* Entities a second since the beginning. */
double progress_rate(const struct progress *progress, int64_t entities);

#endif
