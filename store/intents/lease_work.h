/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_work.h - leases on bucket ranges, and scans for open intents in a bucket range.
 */
#ifndef STORE_INTENTS_LEASE_WORK_H
#define STORE_INTENTS_LEASE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/intents/intent.h"
#include "domain/intents/queue_control.h"
#include "store/intents/scan_reach.h"

struct worker;

/*
 * Renew this worker's leases and take free ones, for lease_ms. held[range]: whether this worker has
 * the lease. Leases spread work over workers; correctness does not depend on them. A release drops
 * the worker's report too.
 */
MUST_USE enum status lease_work_hold(
    struct worker *store, int64_t lease_ms, bool held[LEASE_RANGES], struct error *err);
MUST_USE enum status lease_work_release(struct worker *store, struct error *err);

/* What a worker says of itself, for people: see migrations/0040_workers.sql. */
struct worker_report {
    int64_t running_s; /* since its start */
    int threads, leases, claimed_keys;
    int64_t reconciled, stepped, retried, buried;
};

MUST_USE enum status lease_work_report(
    struct worker *store, const struct worker_report *report, struct error *err);

/*
 * Which work a scan finds: by queue_slot, the intents of that queue and kind that were made before
 * this time; 0: none.
 */
struct scan_scope {
    int queues;
    int64_t until_us[MAX_QUEUES * WORK_KINDS];
};

/* Which intents a scan looks for. */
struct intent_scan {
    int range;
    const struct scan_scope *scope; /* NULL: all work */
    /*
     * older intents are not looked at; none: all are, which must be done every few minutes (guard
     * G7)
     */
    struct intent_id from_id;
    /* read only the slots in which an earlier scan has left intents: see scan_reach.h */
    bool rest_only;
    int64_t min_age_ms;
    size_t max;
};

struct intents_found {
    struct intent *intents; /* in the arena; the oldest of each slot first */
    size_t count;
    /*
     * A safe from_id for a later scan: one minute before the bucket range's oldest open intent;
     * none after a scan with rest_only.
     */
    struct intent_id low_id;
};

/*
 * Find open intents of a bucket range that are old enough and whose key does not wait for its next
 * attempt: a share of each slot (scan_reach.h), and up to `max` in all. If an earlier scan has not
 * read a slot to its end, reading continues there.
 *
 * reach  of this bucket range, one for scans with a scope and one for those without; changed only
 * if the scan succeeds
 */
MUST_USE enum status lease_work_scan(struct worker *store, const struct intent_scan *what,
    struct scan_reach *reach, struct arena *arena, struct intents_found *out, struct error *err);

/* Which retries to look for. */
struct retry_scan {
    const bool *ranges;             /* LEASE_RANGES; the bucket ranges */
    const struct scan_scope *scope; /* what it says nothing of is not looked for; NULL: all work */
    size_t max_of_each;             /* of one account, so that one with many does not hide the others' */
    size_t max;                     /* in all */
};

/*
 * Find open intents whose key has failed and whose next try is due; those that have been due for
 * longest. low_id is not set.
 */
MUST_USE enum status lease_work_find_retries(struct worker *store, const struct retry_scan *what,
    struct arena *arena, struct intents_found *out, struct error *err);

#endif
