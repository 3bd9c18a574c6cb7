/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog_work.h - measures how many intents are open, and up to when everything has been applied.
 */
#ifndef STORE_INTENTS_BACKLOG_WORK_H
#define STORE_INTENTS_BACKLOG_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/queue_control.h"
#include "store/intents/lease_work.h"

struct worker;

/* Values of oldest_age_us: no intent is open, or one has a time ahead of the clock, so its age is unknown. */
#define BACKLOG_NO_AGE (-1)
#define BACKLOG_UNKNOWN_AGE INT64_MAX

/*
 * The open intents in the bucket ranges that the worker holds, transactions included: in all, by
 * bucket range, and by queue_slot.
 */
struct backlog {
    int queues;     /* the number of queues; set by the caller */
    int64_t lag_us; /* age of the oldest open intent of a source key */
    int64_t open_intents;
    int64_t ranges[LEASE_RANGES];
    /* of the oldest open intent of each bucket range, or one of the values above */
    int64_t oldest_age_us[LEASE_RANGES];
    struct {
        int64_t open_intents, lag_us;
    } work[MAX_QUEUES * WORK_KINDS];
};

/*
 * Measure what is open and store, in one snapshot, the time up to which everything acknowledged has
 * been applied in each bucket range held: as_of = min(now, time of the oldest open intent of a
 * source key). It is unknown while an open intent has a time ahead of the clock. The counts in
 * *backlog are updated only if `counts` is set. If the table of intents is larger than 4 MB they
 * are estimates, but a count is 0 exactly if nothing is open.
 */
MUST_USE enum status backlog_work_update(struct worker *store, const bool held[LEASE_RANGES], bool counts,
    struct backlog *backlog, struct error *err);

#endif
