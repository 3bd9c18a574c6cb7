/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.h - numbers about the load of the store; reading them makes a copy.
 */
#ifndef STORE_LANES_STATISTICS_H
#define STORE_LANES_STATISTICS_H

#include <stdint.h>

enum { LANE_SIZES = 11, STORE_LANES = 9 };

struct lane_statistics {
    const char *name;   /* "read", "write", ...: store_read_statistics */
    int64_t waiting;    /* operations, at present */
    int64_t batches;    /* taken so far */
    int64_t operations; /* in these batches */
    int64_t refused;    /* operations for which the lane had no room */
    /* operations that were dropped unsent: cancelled, or past their deadline */
    int64_t late;
    /* batches of up to 1, 2, 4, ... 1024 operations, each counted once */
    int64_t sizes[LANE_SIZES];
};

struct store_statistics {
    struct lane_statistics lanes[STORE_LANES];
    int64_t waiting;         /* calls that wait for an event, at present */
    int64_t waiting_refused; /* calls that were refused because too many waited */
};

#endif
