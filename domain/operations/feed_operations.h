/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_operations.h - operations on reading a table's change feed, a page at a time.
 */
#ifndef DOMAIN_OPERATIONS_FEED_OPERATIONS_H
#define DOMAIN_OPERATIONS_FEED_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "domain/feed/feed_change.h"
#include "domain/filter/filter.h"

struct operation_changes {
    struct key_filter range;     /* holds every key the filter can match */
    const struct filter *filter; /* of keys; NULL: every change */
    bool has_place;              /* false: none are read, only where the feed ends is told */
    struct feed_place place;     /* changes behind it */
    int64_t wait_until_us;       /* wait: no longer; clock_monotonic_us */
};

struct outcome_changes {
    struct change *changes; /* in the order of their commits */
    size_t count;
    bool more;               /* there are more behind `place` already */
    struct feed_place place; /* up to there everything was looked at */
};

#endif
