/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - see the header. The line has at most 39 columns, so it never wraps.
 */
#include "client/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

enum { INTERVAL_US = 100000, US_PER_SECOND = 1000000, COLUMNS = 39 };

void progress_init(struct progress *progress, int64_t done_before)
{
    *progress = (struct progress){
        .is_shown = isatty(STDERR_FILENO), .begun_us = clock_monotonic_us(), .done_before = done_before
    };
}

double progress_rate(const struct progress *progress, int64_t entities)
{
    int64_t passed_us = clock_monotonic_us() - progress->begun_us;

    return passed_us > 0 ? (double)(entities - progress->done_before) * US_PER_SECOND / (double)passed_us : 0;
}

void progress_show(struct progress *progress, int64_t entities, int64_t part, int64_t whole)
{
    int64_t now_us = clock_monotonic_us();
    double share = whole > 0 ? (double)part / (double)whole : 0;
    char line[96];
    int len;

    if (!progress->is_shown || now_us - progress->shown_us < INTERVAL_US)
        return;
    progress->shown_us = now_us;
    len =
        snprintf(line, sizeof(line), "%lld, %.0f/s", (long long)entities, progress_rate(progress, entities));
    if (share > 0 && share <= 1)
        snprintf(line + len, sizeof(line) - (size_t)len, ", %.0f %%, %.0f s left", share * 100,
            (double)(now_us - progress->begun_us) / US_PER_SECOND * (1 - share) / share);
    fprintf(stderr, "\r%-*.*s", COLUMNS, COLUMNS, line);
}

void progress_clear(struct progress *progress)
{
    if (progress->is_shown && progress->shown_us > 0)
        fprintf(stderr, "\r%*s\r", COLUMNS, "");
}
