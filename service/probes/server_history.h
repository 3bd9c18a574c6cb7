/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_history.h - the load of this server in the last hour: one sample every ten seconds, in memory.
 */
#ifndef SERVICE_PROBES_SERVER_HISTORY_H
#define SERVICE_PROBES_SERVER_HISTORY_H

#include <pthread.h>

#include "domain/operations/queue_operations.h"
#include "service/probes/metrics.h"

enum {
    SERVER_HISTORY_SAMPLES = 360,
    SERVER_HISTORY_INTERVAL_US = 10000000,
    SERVER_HISTORY_NO_CALLS = -1,
    SERVER_HISTORY_NOT_READ = -1
};

/* The calls of one interval, and the state at its end. */
struct server_history_sample {
    int64_t ended;          /* ticks */
    int64_t covered_us;     /* duration of the interval */
    uint64_t calls, failed; /* failed: ended with another status than OK */
    int64_t median_us,
        /* the median and the 99th percentile of the calls that do not wait; SERVER_HISTORY_NO_CALLS */
        slow_us;
    int64_t waiting; /* operations that wait in all lanes */
    int64_t connections;
    int64_t memory_bytes; /* resident memory */
    /* see struct outcome_backlog; both SERVER_HISTORY_NOT_READ: the database has not answered */
    int64_t lag_us, dead_letters;
};

struct server_history {
    pthread_mutex_t lock;
    struct server_history_sample samples[SERVER_HISTORY_SAMPLES]; /* a ring */
    size_t next, count;
    bool has_ended;
    int64_t last_us; /* clock_monotonic_us of the last sample; 0: none yet */
    struct metrics_calls last;
};

void server_history_init(struct server_history *history);
void server_history_cleanup(struct server_history *history);

/*
 * If the last sample is one interval old, take the next one. Returns whether one was taken. Called by one thread at a
 * time.
 */
bool server_history_tick(
    struct server_history *history, const struct metrics_sources *sources, int64_t now_us);

/* No sample is taken any more: the parts that samples read may be freed. Any thread may call it, also again. */
void server_history_end(struct server_history *history);

/* Add what the workers have not done to the newest sample, if there is one. Any thread may call it. */
void server_history_set_backlog(struct server_history *history, const struct outcome_backlog *backlog);

/* Copy the samples, the oldest first. Returns their number. Any thread may call it. */
size_t server_history_read(
    struct server_history *history, struct server_history_sample out[SERVER_HISTORY_SAMPLES]);

#endif
