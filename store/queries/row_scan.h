/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_scan.h - walks the live rows of one table in ascending or descending order of their keys: for
 * pages, counts, look-ups and list pages.
 *
 * A scan reads in round trips of bounded size and takes their rows one by one, so that memory holds
 * one row at a time. After each round trip the catalogue's version is checked, so that rows of a
 * table that was deleted meanwhile are never returned.
 *
 * Outside of a snapshot, each round trip sees another state. An answer that must show one state is
 * read with one statement or, if that is not enough, read again from the start in a snapshot (guard
 * G21).
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
    /* What to read. The caller sets these members before row_scan_open. */
    const struct table *table;
    struct key_plan plan; /* all rows in its range, or at its points; `exact` is ignored */
    /*
     * Read instead of the plan; NULL: none. They are ascending, each lies in one partition, and no
     * key is in two of them.
     */
    const struct key_filter *ranges;
    size_t range_count;
    bool descending;
    bool keys_only; /* properties are not read */
    /* if has_names: of spread entities only these properties are needed */
    bool has_names;
    const struct str *names;
    size_t name_count;
    /* as operation->within: nothing outside is read. NULL if there are `ranges` */
    const struct key_range *within;
    bool has_after;
    /* strictly behind this key, in the direction of the scan; row_scan_pass moves it */
    struct entity_key after;
    /* about how much may be examined, 0: any number; then the scan pauses */
    int64_t max_rows, max_bytes;
    /* about how many bytes may be searched, 0: any number; then the caller ends the scan */
    int64_t max_searched;
    /* a wide entity with more than LIMIT_REPLY_BYTES is returned; otherwise the scan is refused */
    bool takes_large;
    bool one_statement;  /* end after the first statement, whether it was enough or not */
    struct arena *arena; /* holds `after` */

    /* How many further rows are needed; the caller may set it before each row_scan_next. */
    int64_t enough;

    /* The progress of the scan. */
    int64_t rows_examined, bytes_examined;
    /* by the caller's tests of the rows; the caller adds to it */
    int64_t bytes_searched;
    bool exhausted;  /* after row_scan_finish: nothing lies behind `after` */
    bool needs_more; /* one statement was not enough, so nothing that was read counts */

    /* Private members. */
    int64_t chunk;      /* rows of a round trip */
    int64_t asked, got; /* rows of the current round trip */
    int64_t cap;        /* the bound on the bytes of a row in it */
    int64_t largest;    /* bytes of the largest row so far */
    /* the points of plan.points in the current round trip, counted in the scan's direction */
    size_t point, point_to;
    size_t range, range_to; /* the same, for `ranges` */
    bool is_narrow;         /* the statement returns wanted keys only */
    bool is_open;           /* a round trip has begun */
    bool is_checked;        /* the catalogue's version was the session's when rows were read */
    bool is_pending;        /* a row was returned and not passed */
    PGresult *row;
    struct buf after_bytes; /* of `after` */
    bool has_start;         /* has_after and after as they were at the start */
    struct entity_key start;
};

void row_scan_open(struct row_scan *scan);

/*
 * After needs_more: return to the beginning; from now on any number of statements may be sent. What
 * is known about sizes of rows is kept.
 */
void row_scan_restart(struct row_scan *scan);

/*
 * Read the next live row in the plan's range or at one of its points. It is borrowed until the next
 * call. *found is false if there are no more rows, the scan pauses, or needs_more is set.
 *
 * STATUS_STALE: the catalogue has changed; nothing that was read counts.
 * STATUS_INVALID: row_scan_refuse; not with takes_large
 */
MUST_USE enum status row_scan_next(
    struct session *session, struct row_scan *scan, bool *found, struct entity *out, struct error *err);

/* ENTITY_TOO_LARGE: the wide entity of the last row has, or is to be returned with, more than a read returns. */
MUST_USE enum status row_scan_refuse(const struct row_scan *scan, struct error *err);

/* Whether the caller's tests have searched max_searched bytes. */
static inline bool row_scan_has_searched_enough(const struct row_scan *scan)
{
    return scan->max_searched > 0 && scan->bytes_searched >= scan->max_searched;
}

/*
 * Move the position behind this row. A row that was not passed is returned again by the next scan.
 */
void row_scan_pass(struct row_scan *scan, const struct entity_key *key);

/*
 * End a scan at the present position, also if there was nothing to read. Sets `exhausted`. Fails as
 * row_scan_next does.
 */
MUST_USE enum status row_scan_finish(struct session *session, struct row_scan *scan, struct error *err);

/* Release everything; to be called after a failure, too. */
void row_scan_close(struct row_scan *scan);

/*
 * Whether the statements return rows of the plan and no others, so that the database can count
 * them.
 */
bool row_scan_is_exact(const struct key_plan *plan);

/*
 * Count the live rows behind `after` inside the database, examining at most max_rows. The plan must
 * have no points, and row_scan_is_exact must hold. Sets `after` and what row_scan_finish sets.
 */
MUST_USE enum status row_scan_count(
    struct session *session, struct row_scan *scan, int64_t *count, struct error *err);

#endif
