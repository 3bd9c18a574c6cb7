/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_history.h - how this server did in the last hour: a sample every ten seconds, in memory.
 */
#ifndef SERVICE_PROBES_SERVER_HISTORY_H
#define SERVICE_PROBES_SERVER_HISTORY_H

#include <pthread.h>

#include "service/probes/metrics.h"

enum { SERVER_HISTORY_SAMPLES = 360, SERVER_HISTORY_INTERVAL_US = 10000000, SERVER_HISTORY_NO_CALLS = -1 };

/* What happened in one interval, and how it was at its end. */
struct server_history_sample {
    int64_t ended;          /* ticks */
    int64_t covered_us;     /* how long the interval was */
    uint64_t calls, failed; /* ended; of these with another status than OK */
    int64_t median_us,
        slow_us; /* half, and 99 of 100, of the calls that do not wait took at most so long; SERVER_HISTORY_NO_CALLS */
    int64_t waiting; /* operations in all lanes */
    int64_t connections;
    int64_t memory_bytes; /* resident */
};

struct server_history {
    pthread_mutex_t lock;
    struct server_history_sample samples[SERVER_HISTORY_SAMPLES]; /* a ring */
    size_t next, count;
    int64_t last_us; /* clock_monotonic_us of the last sample; 0: none yet */
    struct metrics_calls last;
};

void server_history_init(struct server_history *history);
void server_history_cleanup(struct server_history *history);

/* Take a sample, if the last one is an interval old. From one thread at a time. */
void server_history_tick(
    struct server_history *history, const struct metrics_sources *sources, int64_t now_us);

/* Copy the samples, the oldest first. Returns their number. From any thread. */
size_t server_history_read(
    struct server_history *history, struct server_history_sample out[SERVER_HISTORY_SAMPLES]);

#endif
