/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_ranges.h - the first rows of many ranges of keys, as one statement for each direction: the rows of one snapshot,
 * or of two. Each range is in one partition, and is bounded by rows, and by bytes of a row.
 *
 *     short_ranges_init;  short_ranges_add, ...;  short_ranges_send;  short_ranges_take;  short_ranges_collect, ...
 *     short_ranges_close
 */
#ifndef STORE_SHORT_READS_SHORT_RANGES_H
#define STORE_SHORT_READS_SHORT_RANGES_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

enum {
    SHORT_RANGES_MAX_OF_READ = 4,       /* a number that is looked up stands for as many */
    SHORT_RANGES_MAX_ROWS = 32,         /* that an answer holds; one more is read of each range */
    SHORT_RANGES_MAX_BYTES = 64 * 1024, /* of properties, of all ranges of a read */
};

struct short_range {
    const struct table *table;
    struct key_filter keys; /* as row_bounds_rest gives it */
    bool descending;
    int64_t max_rows;
    int64_t max_bytes; /* of a row's properties: what is behind them is cut off */

    /* What came: rows of a result. */
    const PGresult *rows;
    int first, count;
};

struct short_ranges {
    struct arena *arena;
    struct short_range *items;
    size_t count;
    PGresult *up, *down;
};

/* Room for the ranges of so many reads. */
void short_ranges_init(struct short_ranges *ranges, size_t reads, struct arena *arena);
void short_ranges_close(struct short_ranges *ranges);

/* A range to be set up, zeroed. */
struct short_range *short_ranges_add(struct short_ranges *ranges);

/* There is at least one range. The statements are of one flight; they are taken in the order in which they were sent. */
MUST_USE enum status short_ranges_send(
    struct session *session, const struct short_ranges *ranges, struct error *err);

/* STATUS_STALE: the catalogue has changed; nothing that was read counts. */
MUST_USE enum status short_ranges_take(
    struct session *session, struct short_ranges *ranges, struct error *err);

/* What an answer is made of. */
struct short_answer {
    bool (*is_wanted)(const void *context, const struct entity *entity); /* NULL: every live row is */
    const void *context;
    struct entity_sink *sink;
    int64_t limit;     /* of entities */
    bool is_cut_right; /* entities whose properties are cut off are good enough */
    struct arena *arena;

    /* In: where the reading begins, if has_position; out: where it has come to. */
    bool has_position;
    struct entity_key position;

    int64_t count;
    bool more; /* there may be more behind the position */
    int64_t rows_examined, bytes_examined;
};

/*
 * Make an answer of consecutive ranges, in their order, exactly as collect_entities would. false: what came is not
 * enough to tell, since a range has more rows, or a row more bytes, than were asked for.
 */
bool short_ranges_collect(const struct short_range *ranges, size_t count, struct short_answer *answer);

#endif
