/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_filter.c - see the header.
 */
#include "domain/keys/key_filter.h"

bool interval_contains(const struct interval *interval, struct str text)
{
    if (interval->has_low) {
        int order = str_compare(text, interval->low);

        if (order < 0 || (order == 0 && interval->low_open))
            return false;
    }
    if (interval->has_high) {
        int order = str_compare(text, interval->high);

        if (order > 0 || (order == 0 && interval->high_open))
            return false;
    }
    return true;
}

bool interval_is_point(const struct interval *interval)
{
    return interval->has_low && interval->has_high && !interval->low_open && !interval->high_open &&
           str_equal(interval->low, interval->high);
}

bool key_filter_matches(const struct key_filter *filter, const struct entity_key *key)
{
    return !filter->nothing && interval_contains(&filter->partition, key->partition) &&
           interval_contains(&filter->row, key->row);
}
