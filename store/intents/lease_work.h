/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_work.h - leases on ranges of buckets, and scanning for open intents in the ranges held.
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
 * Renew the bucket ranges this worker holds and take free ones, for lease_ms. Leases spread work; nothing relies
 * on them.
 */
MUST_USE enum status lease_work_hold(
    struct worker *store, int64_t lease_ms, bool held[LEASE_RANGES], struct error *err);
MUST_USE enum status lease_work_release(struct worker *store, struct error *err);

/* Which work is meant: of each queue and kind the intents made before a time, 0: none; by queue_slot. */
struct scan_scope {
    int queues;
    int64_t until_us[MAX_QUEUES * WORK_KINDS];
};

/* What is looked for in a bucket range. */
struct intent_scan {
    int range;
    const struct scan_scope *scope; /* NULL: all work */
    struct intent_id
        from_id;    /* older ones are not looked at; none: all are (guard G7: do so every few minutes) */
    bool rest_only; /* only places of which an earlier scan has left some: `open` of the reach */
    int64_t min_age_ms;
    size_t most;
};

struct intents_found {
    struct intent *intents; /* in the arena; each place's oldest first */
    size_t count;
    /* A safe from_id for a later scan: a minute behind the bucket range's oldest open intent; none: after rest_only. */
    struct intent_id low_id;
};

/*
 * Open intents of a bucket range that are old enough and whose key is not waiting for its next retry: of every bucket
 * (of every kind of work in it, with a scope) its share, scan_reach.h, of all `most` at most, in turn. Of places that
 * an earlier scan has not read to the end it goes on behind what that has returned. reach: of the bucket range, and of
 * scans with the same kind of scope (none, or some); it moves on with a scan that succeeds.
 */
MUST_USE enum status lease_work_scan(struct worker *store, const struct intent_scan *what,
    struct scan_reach *reach, struct arena *arena, struct intents_found *out, struct error *err);

#endif
