/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_scan.h - walking the live rows of one table in the order of their keys, or against it: what pages, counts,
 * look-ups and list pages read by.
 *
 * Reads in round trips of bounded size, their rows one by one, so that memory holds one row at a time. After each
 * round trip the catalogue's version is checked, so that rows of a table deleted meanwhile are never returned.
 *
 * Round trips outside of a snapshot see different states. What a caller is to see as one state is read so: one
 * statement, and where that is not enough, all of it anew in a snapshot (guard G21).
 *
 *     row_scan_open;  row_scan_next, row_scan_pass, row_scan_next, ...;  row_scan_finish;  row_scan_close
 *         needs_more: session_begin_snapshot;  row_scan_restart;  row_scan_next, ...
 */
#ifndef STORE_QUERIES_ROW_SCAN_H
#define STORE_QUERIES_ROW_SCAN_H

#include "domain/filter/filter.h"
#include "domain/operations/operation.h"
#include "store/session/session.h"

struct row_scan {
    /* What to read; set by the caller before row_scan_open. */
    const struct table *table;
    struct key_plan plan; /* all rows in its range, or at its points; `exact` is not looked at */
    /* Instead of the plan, NULL: none. Ascending, each in one partition, no key in two of them. */
    const struct key_filter *ranges;
    size_t range_count;
    bool descending;
    bool keys_only;                 /* properties are not fetched */
    const struct key_range *within; /* as operation->within; nothing outside is read. NULL with `ranges` */
    bool has_after;
    struct entity_key
        after; /* strictly behind this key, in the direction of the scan; moves: row_scan_pass */
    int64_t max_rows, max_bytes; /* to be examined, about; 0: any number. The scan pauses then */
    int64_t max_searched;        /* bytes, about; 0: any number. The caller ends the scan then */
    bool one_statement;          /* end after the first one, be it enough or not */
    struct arena *arena;         /* holds `after` */

    /* The number of further rows that are needed; may be set before each row_scan_next. */
    int64_t enough;

    /* How far it has come. */
    int64_t rows_examined, bytes_examined;
    int64_t bytes_searched; /* by the caller's tests of the rows; the caller adds to it */
    bool exhausted;         /* after row_scan_finish: there is nothing behind `after` */
    bool needs_more;        /* one statement was not enough: nothing that was read counts */

    /* Its own. */
    int64_t chunk;          /* rows of a round trip */
    int64_t asked, got;     /* rows of the round trip under way */
    int64_t cap;            /* the most bytes of a row in it */
    int64_t largest;        /* row so far */
    size_t point, point_to; /* plan.points of the round trip under way, counted in the scan's direction */
    size_t range, range_to; /* the same of `ranges` */
    bool is_narrow;         /* what is read needs no look at its key */
    bool is_open;           /* a round trip is under way */
    bool is_checked;        /* the catalogue was as the session knows it when some of it was read */
    bool is_pending;        /* a row has been returned and not been passed */
    PGresult *row;
    struct buf after_bytes; /* of `after` */
    bool has_start;         /* as has_after and after were */
    struct entity_key start;
};

void row_scan_open(struct row_scan *scan);

/* After needs_more: back to the beginning, for any number of statements. What was learned of sizes is kept. */
void row_scan_restart(struct row_scan *scan);

/*
 * The next live row, which is in the plan's range or at one of its points. It is borrowed until the next call.
 * *found false: there are no more, the scan pauses, or needs_more.
 *
 * STATUS_STALE: the catalogue has changed; nothing that was read counts.
 */
MUST_USE enum status row_scan_next(
    struct session *session, struct row_scan *scan, bool *found, struct entity *out, struct error *err);

/* Whether the caller's tests have searched as much as max_searched allows. */
static inline bool row_scan_has_searched_enough(const struct row_scan *scan)
{
    return scan->max_searched > 0 && scan->bytes_searched >= scan->max_searched;
}

/* Done with the row: the position moves behind it. A row that was not passed comes again in the next scan. */
void row_scan_pass(struct row_scan *scan, const struct entity_key *key);

/*
 * End a scan at a row of the caller's choice. As row_scan_next, also if there was nothing to be read; sets
 * `exhausted`.
 */
MUST_USE enum status row_scan_finish(struct session *session, struct row_scan *scan, struct error *err);

/* Release; also after a failure. */
void row_scan_close(struct row_scan *scan);

/* Whether the database is asked for nothing but rows of the plan, so that it can count them, too. */
bool row_scan_is_exact(const struct key_plan *plan);

/*
 * Count what lives in the ranges of a plan for which row_scan_is_exact holds and which has no points, inside the
 * database: the live rows behind `after`, of at most max_rows. Sets what row_scan_finish sets, and `after`.
 */
MUST_USE enum status row_scan_count(
    struct session *session, struct row_scan *scan, int64_t *count, struct error *err);

#endif
