/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - one thread per worker that publishes what was missed: intents that are older than a second while
 * the streams are short of work, so that the backlog stays in PostgreSQL and Redis stays small.
 *
 * It also holds the leases, computes up to when everything is applied (as_of), and decides for all threads
 * whether Redis can be relied on.
 */
#ifndef WORKERS_RELAY_H
#define WORKERS_RELAY_H

#include "base/log_repeat.h"
#include "store/intents/backlog_work.h"
#include "store/intents/scan_reach.h"
#include "workers/recent.h"
#include "workers/scan_marks.h"
#include "workers/worker.h"

struct relay {
    struct worker_ctx *ctx;
    struct scan_marks scan_marks;
    struct recent recent;
    struct backlog backlog; /* as of the last look */
    int next_lane;          /* where publishing goes on */
    bool refilling;         /* Redis has forgotten everything; what is open has not been published since */
    bool behind;            /* there was more to publish than room, or than has been read */
    bool held[LEASE_RANGES];
    int64_t next_leases_us;
    int64_t next_watermark_us, next_count_us;
    int64_t next_queues_us;
    int64_t refused_until_us; /* Redis has no room: do not ask before */
    bool said_mode;           /* the log knows the queue's mode */
    bool said_store;          /* the same of the database */
    bool store_available;
    struct log_repeat queue_outage, store_outage;
};

/* One pass; returns whether there is more to publish than it could. */
bool relay_pass(struct relay *relay);

/* Passes until the worker stops, then the leases are given up; argument: a struct worker_ctx *. */
void *relay_thread(void *argument);

#endif
