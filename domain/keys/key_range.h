/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_range.h - a range of entities by key, as in shared access signatures; both ends are included.
 *
 *     key >= (low.partition, low.row)  and  key <= (high.partition, high.row)
 *
 * A high end without a row includes its whole partition; a low end without a row begins at the
 * empty row key.
 */
#ifndef DOMAIN_KEYS_KEY_RANGE_H
#define DOMAIN_KEYS_KEY_RANGE_H

#include <stdbool.h>

#include "domain/keys/entity_key.h"
#include "domain/keys/key_filter.h"

struct key_range {
    bool has_low, has_high;
    bool high_has_row;
    struct entity_key low, high;
};

static inline bool key_range_is_bounded(const struct key_range *range)
{
    return range->has_low || range->has_high;
}

bool key_range_contains(const struct key_range *range, const struct entity_key *key);

/*
 * Narrow a filter's intervals to those that can contain keys of the range, so that a scan does not
 * read much outside. If the range spans several partitions, keys outside may remain at its ends:
 * key_range_contains decides.
 */
void key_range_narrow(const struct key_range *range, struct key_filter *filter);

#endif
