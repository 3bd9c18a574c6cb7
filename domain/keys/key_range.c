/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_range.c - see the header.
 */
#include "domain/keys/key_range.h"

bool key_range_contains(const struct key_range *range, const struct entity_key *key)
{
    if (range->has_low) {
        int order = str_compare(key->partition, range->low.partition);

        if (order < 0 || (order == 0 && str_compare(key->row, range->low.row) < 0))
            return false;
    }
    if (range->has_high) {
        int order = str_compare(key->partition, range->high.partition);

        if (order > 0 || (order == 0 && range->high_has_row && str_compare(key->row, range->high.row) > 0))
            return false;
    }
    return true;
}

static void raise_low(struct interval *interval, struct str low)
{
    if (interval->has_low && str_compare(interval->low, low) >= 0)
        return;
    interval->has_low = true;
    interval->low_open = false;
    interval->low = low;
}

static void lower_high(struct interval *interval, struct str high)
{
    if (interval->has_high && str_compare(interval->high, high) <= 0)
        return;
    interval->has_high = true;
    interval->high_open = false;
    interval->high = high;
}

static bool is_empty(const struct interval *interval)
{
    int order;

    if (!interval->has_low || !interval->has_high)
        return false;
    order = str_compare(interval->low, interval->high);
    return order > 0 || (order == 0 && (interval->low_open || interval->high_open));
}

void key_range_narrow(const struct key_range *range, struct key_filter *filter)
{
    if (range->has_low)
        raise_low(&filter->partition, range->low.partition);
    if (range->has_high)
        lower_high(&filter->partition, range->high.partition);
    if (!is_empty(&filter->partition) && interval_is_point(&filter->partition)) {
        if (range->has_low && str_equal(filter->partition.low, range->low.partition))
            raise_low(&filter->row, range->low.row);
        if (range->has_high && range->high_has_row && str_equal(filter->partition.low, range->high.partition))
            lower_high(&filter->row, range->high.row);
    }
    if (is_empty(&filter->partition) || is_empty(&filter->row))
        filter->nothing = true;
}
