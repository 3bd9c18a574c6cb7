/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - one thread per worker that publishes intents which no message has brought to a worker:
 * those older than a second, while the streams are short of work. So the backlog stays in
 * PostgreSQL and Redis stays small.
 *
 * The relay also holds the leases, computes the time up to which everything is applied (as_of), and
 * decides for all threads whether Redis can be relied on.
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
    struct backlog backlog; /* as last read */
    int64_t looked_us;      /* when it was read */
    int next_range;         /* where publishing continues */
    /* Redis has lost everything, and not all open intents have been published since */
    bool refilling;
    bool behind; /* the last pass left intents unpublished, for lack of room or unread */
    bool held[LEASE_RANGES];
    int64_t next_leases_us;
    int64_t started_us, next_report_us;
    int64_t next_watermark_us, next_count_us;
    int64_t next_queues_us;
    int64_t next_due_us;      /* when to look for due retries while the streams are full */
    int64_t refused_until_us; /* Redis refused messages: do not publish before */
    bool logged_mode;         /* the queue's mode has been logged */
    bool logged_store;        /* the database's state has been logged */
    bool store_available;
    struct log_repeat queue_outage, store_outage;
};

/* One pass. true: there is more to publish. */
bool relay_pass(struct relay *relay);

/* Passes until the worker stops, then releases the leases; argument: a struct worker_ctx *. */
void *relay_thread(void *argument);

#endif
