/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowest_calls.h - the slowest calls of the last minutes, in memory, for ListServerSamples: by
 * method, account, table and access path. Never keys, values or filters.
 *
 * Bounded: SLOWEST_CALLS_MAX groups; if there are as many, a group whose slowest call was quicker
 * than the new one gives way. Calls that took less than SLOWEST_CALLS_FROM_US are not counted, so a
 * quick call costs one comparison; if another thread is noting a call, a call is left out.
 */
#ifndef SERVICE_TRACING_SLOWEST_CALLS_H
#define SERVICE_TRACING_SLOWEST_CALLS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "domain/filter/access_path.h"
#include "service/tracing/call_parts.h"

enum {
    SLOWEST_CALLS_MAX = 32,
    SLOWEST_CALLS_FROM_US = 1000,
    SLOWEST_CALLS_KEPT_US = 600000000, /* after a group's slowest call */
    SLOWEST_CALLS_NAME_BYTES = 128,
};

struct slowest_calls_group {
    const char *path; /* of the method, borrowed for ever */
    char account[SLOWEST_CALLS_NAME_BYTES], table[SLOWEST_CALLS_NAME_BYTES];
    enum access_path access_path; /* 0: no query */
    int64_t calls, total_us;      /* of those that were counted */
    /* of the slowest one */
    int64_t slowest_us, queue_us, rows_examined;
    int64_t ended_us;    /* clock_monotonic_us */
    int64_t ended_ticks; /* ticks */
};

struct slowest_calls {
    pthread_mutex_t lock;
    struct slowest_calls_group groups[SLOWEST_CALLS_MAX];
    size_t count;
};

void slowest_calls_init(struct slowest_calls *calls);
void slowest_calls_cleanup(struct slowest_calls *calls);

/* Whether a call of this duration is counted. */
static inline bool slowest_calls_want(int64_t duration_us)
{
    return duration_us >= SLOWEST_CALLS_FROM_US;
}

/* Count a call. parts: what call_parts_read has read for `end`. */
void slowest_calls_note(
    struct slowest_calls *calls, const struct call_end *end, const struct call_parts *parts, int64_t now_us);

/* Copy the groups of the last minutes, the slowest first. Returns their number. */
size_t slowest_calls_read(
    struct slowest_calls *calls, int64_t now_us, struct slowest_calls_group out[SLOWEST_CALLS_MAX]);

#endif
