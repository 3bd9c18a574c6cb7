/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_reach.h - how far the open intents of a bucket range have been read. A slot is a bucket or, if work is
 * controlled, one kind of work in a bucket. For each slot there is the last intent that was returned, as long as there
 * may be more.
 *
 * So a bucket with a large backlog is read once from its beginning to its end, instead of its beginning again and
 * again. Nothing relies on it (guard G7): intents that commit late, or whose messages were lost, are found when reading
 * begins again at the low mark. Pure.
 */
#ifndef STORE_INTENTS_SCAN_REACH_H
#define STORE_INTENTS_SCAN_REACH_H

#include <stdbool.h>

#include "domain/intents/intent.h"
#include "domain/intents/queue_control.h"
#include "domain/limits.h"

enum { LEASE_RANGES = 16 }; /* the bucket range of a bucket is bucket / RANGE_BUCKETS */
enum { RANGE_BUCKETS = BUCKETS / LEASE_RANGES, RANGE_SLOTS = RANGE_BUCKETS * WORK_KINDS };

/* All zeros: no slot is read on. */
struct scan_reach {
    int open;                            /* slots with more behind */
    struct intent_id after[RANGE_SLOTS]; /* none: is read from the low mark */
};

/* Where a bucket, or a kind of work in it, stands in `after`. kind 0: all kinds together. */
static inline int scan_reach_slot(int16_t bucket, int16_t kind)
{
    return bucket % RANGE_BUCKETS * WORK_KINDS + (kind > 1 ? kind - 1 : 0);
}

/* Read every slot from the low mark again. */
void scan_reach_forget(struct scan_reach *reach);

/*
 * How many intents of one slot a scan of at most `max` takes: an eighth of all, and at least 64. Of the rest only
 * (rest_only) more where few slots are left: their even share, and at least 64. So the work of a scan stays bounded.
 */
size_t scan_reach_share(const struct scan_reach *reach, bool rest_only, size_t max);

/* What a scan has asked for, and what it has returned. */
struct scan_answer {
    const struct intent *intents; /* each slot's in the order of their ids */
    size_t count, max, share;
    bool by_kind; /* each kind of work has a slot of its own */
};

/* A slot is read to its end when fewer than its share came, unless the limit of the whole scan cut it off. */
void scan_reach_note(struct scan_reach *reach, const struct scan_answer *answer);

#endif
