/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauges.h - the metrics of indexes and dead letters, the current numbers of what an operator has to
 * correct, and of what the collector of blobs has to remove.
 */
#ifndef STORE_BACKGROUND_GAUGES_H
#define STORE_BACKGROUND_GAUGES_H

#include "base/error.h"
#include "domain/intents/queue_control.h"

struct worker;

enum {
    /* indexes with labels of their own; one more gauge sums up all other indexes */
    MAX_INDEX_GAUGES = 100,
    GAUGE_NAME_BYTES = 64,
    MAX_BACKLOG_COUNTED = 10000, /* of the contents and of the chunks of blobs */
    MAX_LETTERS_COUNTED = 10000, /* dead letters of an index, or of a kind of work, in each state */
};

enum gauge_dead_letters { GAUGE_STANDING, GAUGE_RETRYING, GAUGE_DISCARDED, GAUGE_DEAD_LETTERS };

struct index_gauge {
    /* both empty: the gauge of all other indexes together */
    char account[GAUGE_NAME_BYTES], name[GAUGE_NAME_BYTES];
    int64_t lag_us; /* microseconds; for all other indexes: the largest lag */
    /*
     * when a verification last proved the index, in microseconds since 1970; 0: never; for all
     * other indexes: the earliest
     */
    int64_t proven_us;
    int64_t differences; /* by the last verification of the whole index */
    /* GAUGE_RETRYING is always 0; of the index and of whole keys up to MAX_LETTERS_COUNTED each */
    int64_t dead_letters[GAUGE_DEAD_LETTERS];
};

/* What no blob points to and the collector may remove now. */
struct blob_backlog {
    int64_t contents;  /* up to MAX_BACKLOG_COUNTED */
    int64_t chunks;    /* condemned; up to MAX_BACKLOG_COUNTED */
    int64_t strays;    /* bytes outside of the database that may be removed; up to MAX_BACKLOG_COUNTED */
    int64_t oldest_us; /* since when the oldest content may be removed, as an age */
};

struct gauges {
    struct index_gauge indexes[MAX_INDEX_GAUGES + 1]; /* by index id; other indexes last */
    size_t index_count;
    int64_t dead_letters[WORK_KINDS]
                        [GAUGE_DEAD_LETTERS]; /* by kind of work; up to MAX_LETTERS_COUNTED each */
    struct blob_backlog blobs;
};

/*
 * Read the gauges of the whole service, not only of this worker's bucket ranges. *out is unchanged
 * on failure.
 */
MUST_USE enum status gauges_read(struct worker *store, struct gauges *out, struct error *err);

#endif
