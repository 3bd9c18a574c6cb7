/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_path.c - see the header.
 */
#include "domain/filter/access_path.h"

#include "domain/filter/filter.h"

enum access_path access_path_of(const struct key_plan *plan)
{
    const struct key_filter *range = &plan->range;

    if (plan->points || range->nothing)
        /* a filter without possible matches reads nothing: no path is cheaper */
        return ACCESS_POINT;
    if (!interval_is_point(&range->partition))
        return ACCESS_TABLE_SCAN;
    if (interval_is_point(&range->row))
        return ACCESS_POINT;
    return range->row.has_low || range->row.has_high ? ACCESS_ROW_RANGE : ACCESS_PARTITION_SCAN;
}

const char *access_path_name(enum access_path path)
{
    static const char *const names[] = {
        [ACCESS_POINT] = "POINT",
        [ACCESS_ROW_RANGE] = "ROW_RANGE",
        [ACCESS_INDEX_LOOKUP] = "INDEX_LOOKUP",
        [ACCESS_PARTITION_SCAN] = "PARTITION_SCAN",
        [ACCESS_TABLE_SCAN] = "TABLE_SCAN",
    };

    return names[path];
}
