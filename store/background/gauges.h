/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauges.h - the metrics of indexes and dead letters: numbers that stay until what they count is mended.
 */
#ifndef STORE_BACKGROUND_GAUGES_H
#define STORE_BACKGROUND_GAUGES_H

#include "domain/intents/queue_control.h"
#include "store/session/worker.h"

enum {
    MAX_INDEX_GAUGES = 100, /* indexes with labels of their own; all others are one more */
    GAUGE_NAME_BYTES = 64,
};

enum gauge_dead_letters { GAUGE_STANDING, GAUGE_RETRYING, GAUGE_DISCARDED, GAUGE_DEAD_LETTERS };

struct index_gauge {
    char account[GAUGE_NAME_BYTES], name[GAUGE_NAME_BYTES]; /* both "": of all other indexes together */
    int64_t lag_us;                                         /* of the others: the largest */
    int64_t
        proven_us; /* when it was last seen to be whole, since 1970; 0: never. Of the others: the earliest */
    int64_t differences;                      /* that the last verification of all of it has found */
    int64_t dead_letters[GAUGE_DEAD_LETTERS]; /* none is told as retrying */
};

struct gauges {
    struct index_gauge indexes[MAX_INDEX_GAUGES + 1]; /* the oldest first, the others last */
    size_t index_count;
    int64_t dead_letters[WORK_KINDS][GAUGE_DEAD_LETTERS]; /* of keys, of transactions */
};

/* The whole service, not only this worker's bucket ranges. *out is untouched on failure. */
MUST_USE enum status gauges_read(struct worker *store, struct gauges *out, struct error *err);

#endif
