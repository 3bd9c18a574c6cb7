/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog_work.h - how much is open, and up to when everything has been applied.
 */
#ifndef STORE_INTENTS_BACKLOG_WORK_H
#define STORE_INTENTS_BACKLOG_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/queue_control.h"
#include "store/intents/lease_work.h"
#include "store/session/worker.h"

/* What is open in the bucket ranges held, transactions included: in all, by bucket range, and by queue_slot. */
struct backlog {
    int queues;     /* the number of queues; set by the caller */
    int64_t lag_us; /* age of the oldest open intent of a source key */
    int64_t open_intents;
    int64_t ranges[LEASE_RANGES];
    struct {
        int64_t open_intents, lag_us;
    } work[MAX_QUEUES * WORK_KINDS];
};

/*
 * Look at what is open and store, in one snapshot, for each bucket range held up to when everything acknowledged has
 * been applied: as_of = min(now, time of the oldest open intent of a source key); unknown while the time of an open one
 * is ahead of the clock. Counts stay as they were in *backlog unless `counts` asks for new ones, which are estimates
 * where the table of intents is larger than 32 MB; but nothing open is 0, and something never.
 */
MUST_USE enum status backlog_work_update(struct worker *store, const bool held[LEASE_RANGES], bool counts,
    struct backlog *backlog, struct error *err);

#endif
