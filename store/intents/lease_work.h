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
#include "store/session/worker.h"

/*
 * Renew the leases of this worker and take free ones, for lease_ms. held[range]: whether the worker has the lease.
 * Leases spread work; nothing relies on them.
 */
MUST_USE enum status lease_work_hold(
    struct worker *store, int64_t lease_ms, bool held[LEASE_RANGES], struct error *err);
MUST_USE enum status lease_work_release(struct worker *store, struct error *err);

/* The work of a scan: by queue_slot, the intents of a queue and kind that were made before a time; 0: none. */
struct scan_scope {
    int queues;
    int64_t until_us[MAX_QUEUES * WORK_KINDS];
};

/* The intents that a scan looks for. */
struct intent_scan {
    int range;
    const struct scan_scope *scope; /* NULL: all work */
    struct intent_id
        from_id;    /* older ones are not looked at; none: all are (guard G7: do so every few minutes) */
    bool rest_only; /* read only slots of which an earlier scan has left intents: see scan_reach.h */
    int64_t min_age_ms;
    size_t max;
};

struct intents_found {
    struct intent *intents; /* in the arena; each slot's oldest first */
    size_t count;
    /* A safe from_id for a later scan: a minute behind the bucket range's oldest open intent; none: after rest_only. */
    struct intent_id low_id;
};

/*
 * Find open intents of a bucket range that are old enough and whose key does not wait for its next attempt: a share of
 * every slot (scan_reach.h), up to `max` in all. A slot that an earlier scan has not read to its end is read on from
 * there.
 *
 * reach  of this bucket range, and of scans with or without a scope; changed only if the scan succeeds
 */
MUST_USE enum status lease_work_scan(struct worker *store, const struct intent_scan *what,
    struct scan_reach *reach, struct arena *arena, struct intents_found *out, struct error *err);

#endif
