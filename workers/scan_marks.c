/*
 * scan_marks.c - see the header.
 */
#include "workers/scan_marks.h"

static const int64_t start_every_us = INT64_C(180) * 1000 * 1000;
static const int64_t read_on_longest_us = INT64_C(10) * 1000 * 1000;

bool marks_start_is_due(const struct marks *marks, int lane, int64_t now_us)
{
    return now_us >= marks->next_start_us[lane];
}

const char *marks_from(struct marks *marks, int lane, int64_t now_us)
{
    if (marks_start_is_due(marks, lane, now_us)) {
        marks->next_start_us[lane] = now_us + start_every_us;
        marks->low[lane][0] = '\0';
        marks_reread(marks, lane);
    }
    return marks->low[lane];
}

struct scan_reach *marks_reach(struct marks *marks, int lane, int64_t now_us)
{
    if (now_us - marks->reading_since_us[lane] > read_on_longest_us)
        marks_reread(marks, lane);
    if (marks->reach[lane].open == 0)
        marks->reading_since_us[lane] = now_us;
    return &marks->reach[lane];
}

void marks_reread(struct marks *marks, int lane)
{
    scan_reach_forget(&marks->reach[lane]);
}

void marks_forget(struct marks *marks)
{
    int64_t connection = marks->connection;

    memset(marks, 0, sizeof(*marks));
    marks->connection = connection;
}

bool marks_follow(struct marks *marks, int64_t connection)
{
    if (marks->connection == connection)
        return false;
    marks_forget(marks);
    marks->connection = connection;
    return true;
}
