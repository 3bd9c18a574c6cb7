/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_marks.c - see the header.
 */
#include "workers/scan_marks.h"

#include <string.h>

static const int64_t start_every_us = INT64_C(180) * 1000 * 1000;
static const int64_t read_on_longest_us = INT64_C(10) * 1000 * 1000;

bool scan_marks_start_is_due(const struct scan_marks *scan_marks, int range, int64_t now_us)
{
    return now_us >= scan_marks->next_start_us[range];
}

struct intent_id scan_marks_from(struct scan_marks *scan_marks, int range, int64_t now_us)
{
    if (scan_marks_start_is_due(scan_marks, range, now_us)) {
        scan_marks->next_start_us[range] = now_us + start_every_us;
        scan_marks->low[range] = (struct intent_id){ 0 };
        scan_marks_reread(scan_marks, range);
    }
    return scan_marks->low[range];
}

struct scan_reach *scan_marks_reach(struct scan_marks *scan_marks, int range, int64_t now_us)
{
    if (now_us - scan_marks->reading_since_us[range] > read_on_longest_us)
        scan_marks_reread(scan_marks, range);
    if (scan_marks->reach[range].open == 0)
        scan_marks->reading_since_us[range] = now_us;
    return &scan_marks->reach[range];
}

void scan_marks_reread(struct scan_marks *scan_marks, int range)
{
    scan_reach_forget(&scan_marks->reach[range]);
}

void scan_marks_forget(struct scan_marks *scan_marks)
{
    int64_t connection = scan_marks->connection;

    memset(scan_marks, 0, sizeof(*scan_marks));
    scan_marks->connection = connection;
}

bool scan_marks_follow(struct scan_marks *scan_marks, int64_t connection)
{
    if (scan_marks->connection == connection)
        return false;
    scan_marks_forget(scan_marks);
    scan_marks->connection = connection;
    return true;
}
