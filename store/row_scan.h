/*
 * row_scan.h - walking the live rows of one table in key order: what pages, look-ups and list pages read by.
 *
 * Reads in chunks; after each chunk the catalogue's version is checked, so that rows of a table deleted
 * meanwhile are never returned.
 */
#ifndef STORE_ROW_SCAN_H
#define STORE_ROW_SCAN_H

#include "domain/filter.h"
#include "domain/operation.h"
#include "store/session.h"

struct row_scan {
    /* What to read; set by the caller. */
    const struct table *table;
    struct key_filter filter;
    bool has_after;
    struct entity_key after;        /* strictly behind this key */
    const struct key_range *within; /* as operation->within */
    int32_t chunk;                  /* rows per round trip */
    struct arena *arena;            /* rows are copied into it */

    /* How far it has come. */
    int64_t rows_examined, bytes_examined;
    bool exhausted;
    PGresult *result;
    int next;
};

/*
 * The next live row that matches the filter. *found false: no more rows, or (exhausted false) most_examined
 * is reached. `after` moves with every row examined and stays valid while the arena lives.
 *
 * STATUS_STALE: the catalogue has changed; resolve the table again and go on behind `after`.
 */
MUST_USE enum status row_scan_next(struct session *session, struct row_scan *scan, int64_t most_examined,
    bool *found, struct entity *out, struct error *err);

void row_scan_close(struct row_scan *scan);

/* The access path these key ranges take. */
enum access_path access_path_of(const struct key_filter *filter);

#endif
