/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_marks.h - where scans for open intents begin. For each bucket range they begin at a low
 * mark, which the store returns and which is a minute before the oldest open intent. Every few
 * minutes they begin at the very start (guard G7), since a transaction may commit long after its id
 * was made, behind the mark. They also begin at the start on each new connection (guard G18): after
 * a crash of the database, intents older than the mark may be open again.
 *
 * Scans continue to read a bucket with a large backlog where the last scan ended
 * (store/intents/scan_reach.h). After ten seconds, and at its end, it is read from the mark again,
 * so that scans find intents that committed late, and intents whose messages were lost.
 */
#ifndef WORKERS_SCAN_MARKS_H
#define WORKERS_SCAN_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/intents/scan_reach.h"
#include "store/session/worker.h"

struct scan_marks {
    struct intent_id low[LEASE_RANGES];
    int64_t next_start_us[LEASE_RANGES]; /* when the bucket range is next scanned from the start */
    struct scan_reach reach[LEASE_RANGES];
    /* since when the reach is read on without a new beginning */
    int64_t reading_since_us[LEASE_RANGES];
    int64_t connection; /* from which the marks were read */
};

/*
 * Call before scanning, with worker_connection. true: the connection is another one, and all marks
 * were forgotten.
 */
bool scan_marks_follow(struct scan_marks *scan_marks, int64_t connection);

/*
 * Where to begin in this bucket range now; none: at the start. The scan's low_id becomes the next
 * mark, low[range].
 */
struct intent_id scan_marks_from(struct scan_marks *scan_marks, int range, int64_t now_us);

/* Whether scan_marks_from would return none. */
bool scan_marks_start_is_due(const struct scan_marks *scan_marks, int range, int64_t now_us);

/*
 * The bucket range's reach, for the next scan; it begins again when it has been read on for ten
 * seconds.
 */
struct scan_reach *scan_marks_reach(struct scan_marks *scan_marks, int range, int64_t now_us);

/* Read every slot of the bucket range from its mark again. */
void scan_marks_reread(struct scan_marks *scan_marks, int range);

/* Scan every bucket range from the start next time. */
void scan_marks_forget(struct scan_marks *scan_marks);

#endif
