/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_marks.h - from where to scan for open intents: for each lane a low mark that the store hands out, which
 * lags a minute behind the oldest open intent, and every few minutes the very start (guard G7): a commit
 * that came later than its id would be skipped by any cursor. From the start also on each new connection (guard
 * G18): the database may have crashed, and intents be open again that are older than the mark.
 *
 * A bucket with a large backlog is read on from scan to scan (store/intents/scan_reach.h); after ten seconds, and at
 * its end, it is read from the mark again: what became open behind the reader, or was published and lost, is not
 * forgotten for longer.
 */
#ifndef WORKERS_SCAN_MARKS_H
#define WORKERS_SCAN_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/intents/scan_reach.h"
#include "store/session/worker.h"

struct scan_marks {
    struct intent_id low[LEASE_RANGES];
    int64_t next_start_us[LEASE_RANGES]; /* when the lane is next scanned from the start */
    struct scan_reach reach[LEASE_RANGES];
    int64_t reading_since_us[LEASE_RANGES]; /* when the reading of the reach began */
    int64_t connection;                     /* that they were learned from */
};

/* Before scanning: whose connection it is now (worker_connection). True: it is another one, and all is forgotten. */
bool scan_marks_follow(struct scan_marks *scan_marks, int64_t connection);

/* Where to begin in this lane now; none: at the start. The scan's low_id becomes the next mark, low[lane]. */
struct intent_id scan_marks_from(struct scan_marks *scan_marks, int lane, int64_t now_us);

/* Whether scan_marks_from would return none. */
bool scan_marks_start_is_due(const struct scan_marks *scan_marks, int lane, int64_t now_us);

/* The lane's reach, for the next scan; it begins again when it has been read on for ten seconds. */
struct scan_reach *scan_marks_reach(struct scan_marks *scan_marks, int lane, int64_t now_us);

/* Read every place of the lane from its mark again. */
void scan_marks_reread(struct scan_marks *scan_marks, int lane);

/* Scan every lane from the start next time. */
void scan_marks_forget(struct scan_marks *scan_marks);

#endif
