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
    struct key_filter range;       /* holds every key the filter can match */
    const struct filter *filter;   /* of keys; NULL: every change */
    bool has_position;             /* false: no changes are read, only the end of the feed */
    struct feed_position position; /* changes after this position are read */
    int64_t wait_until_us;         /* wait: until then; clock_monotonic_us */
};

struct outcome_changes {
    struct change *changes; /* in the order of their commits */
    size_t count;
    bool more;                     /* there are more changes after `position` */
    struct feed_position position; /* all changes up to this position were examined */
};

#endif
