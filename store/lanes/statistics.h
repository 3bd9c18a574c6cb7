/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.h - what the store has to say about its load: a copy, taken in a moment.
 */
#ifndef STORE_LANES_STATISTICS_H
#define STORE_LANES_STATISTICS_H

#include <stdint.h>

enum { LANE_SIZES = 11, STORE_LANES = 6 };

struct lane_statistics {
    const char *name;          /* "read", "write", "bulk", "short", "page", "change" */
    int64_t waiting;           /* operations, now */
    int64_t batches;           /* taken so far */
    int64_t operations;        /* in these batches */
    int64_t refused;           /* operations the lane had no room for */
    int64_t late;              /* dropped unsent: cancelled, or past their deadline */
    int64_t sizes[LANE_SIZES]; /* batches of at most 1, 2, 4, ... 1024 operations, each counted once */
};

struct store_statistics {
    struct lane_statistics lanes[STORE_LANES];
    int64_t waiting;         /* calls that wait for something to finish, now */
    int64_t waiting_refused; /* there were too many of them */
};

#endif
