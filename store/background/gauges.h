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
    char account[GAUGE_NAME_BYTES], name[GAUGE_NAME_BYTES]; /* both "": all other indexes together */
    int64_t lag_us;                                         /* of all other indexes together: the largest */
    int64_t
        proven_us; /* when the index was last proven, since 1970; 0: never. Of all other indexes: the earliest */
    int64_t differences;                      /* found by the last verification of the whole index */
    int64_t dead_letters[GAUGE_DEAD_LETTERS]; /* always 0 for retrying */
};

struct gauges {
    struct index_gauge indexes[MAX_INDEX_GAUGES + 1]; /* the oldest first, the others last */
    size_t index_count;
    int64_t dead_letters[WORK_KINDS][GAUGE_DEAD_LETTERS]; /* of keys, of transactions */
};

/* The whole service, not only this worker's bucket ranges. *out is untouched on failure. */
MUST_USE enum status gauges_read(struct worker *store, struct gauges *out, struct error *err);

#endif
