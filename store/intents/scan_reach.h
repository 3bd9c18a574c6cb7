/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_reach.h - how far scans have read the open intents of a bucket range. A slot is a bucket or,
 * if some work is controlled, one kind of work in a bucket. For each slot it keeps the last intent
 * that was returned, as long as more may follow.
 *
 * So scans read a bucket with a large backlog once from beginning to end, instead of its beginning
 * again and again. Correctness does not depend on it (guard G7): intents that commit late, or whose
 * messages were lost, are found when reading begins again at the low mark. Pure.
 */
#ifndef STORE_INTENTS_SCAN_REACH_H
#define STORE_INTENTS_SCAN_REACH_H

#include <stdbool.h>

#include "domain/intents/intent.h"
#include "domain/intents/queue_control.h"
#include "domain/limits.h"

enum { LEASE_RANGES = 16 }; /* the bucket range of a bucket is bucket / RANGE_BUCKETS */
enum { RANGE_BUCKETS = BUCKETS / LEASE_RANGES, RANGE_SLOTS = RANGE_BUCKETS * WORK_KINDS };

/* All zero: every slot is read from the low mark. */
struct scan_reach {
    int open;                            /* number of slots in which more intents may follow */
    struct intent_id after[RANGE_SLOTS]; /* none: the slot is read from the low mark */
};

/* The index of a bucket, or of one kind of work in it, in `after`. kind 0: all kinds together. */
static inline int scan_reach_slot(int16_t bucket, int16_t kind)
{
    return bucket % RANGE_BUCKETS * WORK_KINDS + (kind > 1 ? kind - 1 : 0);
}

/* Read every slot from the low mark again. */
void scan_reach_forget(struct scan_reach *reach);

/*
 * How many intents of one slot a scan of at most `max` takes: an eighth of all, and at least 64. A
 * scan of the rest (rest_only) takes more if few slots are left: an even share each, and at least
 * 64. So the work of a scan is bounded.
 */
size_t scan_reach_share(const struct scan_reach *reach, bool rest_only, size_t max);

/* What a scan has asked for, and what it has returned. */
struct scan_answer {
    const struct intent *intents; /* those of a slot in the order of their ids */
    size_t count, max, share;
    bool by_kind; /* each kind of work has a slot of its own */
};

/*
 * Note the result of a scan. A slot has been read to its end if fewer intents than its share came
 * back, unless the limit of the whole scan was reached.
 */
void scan_reach_note(struct scan_reach *reach, const struct scan_answer *answer);

#endif
