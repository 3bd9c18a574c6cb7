/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_rows.h - the rows of one range as short_ranges.sql returns them: all rows in two values,
 * since a row of a result costs libpq and PostgreSQL more than what is in it.
 *
 * heads   for each row four numbers of eight bytes, the highest byte first, and the row key. The
 *         numbers: the length of the row key times 2^32 plus that of the properties; version; ts,
 *         or -1 if the row is dead or has expired; expires, or 0
 * bodies  the properties of each row that has at most max_bytes of them
 *
 * Pure: no I/O, no allocation.
 */
#ifndef STORE_SHORT_READS_PACKED_ROWS_H
#define STORE_SHORT_READS_PACKED_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What has not been read yet. */
struct packed_rows {
    struct str heads, bodies;
    int64_t max_bytes;
};

struct packed_row {
    struct str row_key, properties;
    int64_t version, ts, expires; /* ts: -1 if the row is dead or has expired */
    int64_t size;                 /* of its properties, in bytes */
    bool is_cut;                  /* the properties were left out */
};

/* Take the next row, which borrows the bytes. There is one as long as heads is not empty. */
struct packed_row packed_rows_next(struct packed_rows *rows);

#endif
