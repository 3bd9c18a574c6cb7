/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_ranges.h - reads the first rows of many ranges of keys with few statements. Each range lies
 * in one partition, and is bounded by the number of rows and by the bytes of each row. The ranges
 * of one read are in one statement, and so in one snapshot (guard G21).
 *
 *     short_ranges_init;  short_ranges_add, ...
 *     for each statement: short_ranges_send
 *     for each statement: short_ranges_take;  short_ranges_collect, ...;  short_ranges_clear
 *
 * There are several statements, so that the reads of the first one are answered while the database
 * works on the second.
 */
#ifndef STORE_SHORT_READS_SHORT_RANGES_H
#define STORE_SHORT_READS_SHORT_RANGES_H

#include "domain/operations/operation.h"
#include "store/session/session.h"
#include "store/short_reads/packed_rows.h"

enum {
    /*
     * ranges of one read; a number has a range for each type in which an equal value may be stored
     */
    SHORT_RANGES_MAX_OF_READ = 4,
    SHORT_RANGES_MAX_ROWS = 32,         /* rows of an answer; one more is read of each range */
    SHORT_RANGES_MAX_BYTES = 64 * 1024, /* of properties, of all ranges of a read */
    /* of the entities that belong to entries, of all ranges of a read */
    SHORT_RANGES_MAX_HIT_BYTES = 256 * 1024,
    SHORT_RANGES_MAX_READS = 16, /* of a statement */
};

/* What a statement returns. */
enum short_form {
    SHORT_ROWS, /* rows as they are */
    SHORT_HITS, /* for each index entry the live entity that it belongs to */
    SHORT_FORM_END
};

struct short_statement {
    enum short_form form;
    bool descending;
    size_t reads, count; /* count: number of ranges */
    struct short_range *first, **last;
    PGresult *rows; /* the result; NULL: not taken yet, or cleared */
};

struct short_range {
    struct short_statement *statement;
    const struct table *table;
    struct key_filter keys;  /* as row_bounds_rest returns it */
    int64_t source_table_id; /* of index entries: the table of their sources; else 0 */
    bool asks_behind;        /* ask whether the indexes of that table may be behind */
    int64_t max_rows;
    /* of properties of a row, or of an entry's entity; larger ones are left out */
    int64_t max_bytes;

    /* What the statement has returned: rows together, or each hit as a row of the result. */
    struct packed_rows rows;
    int first_hit, hits;
    bool is_behind;
    struct short_range *next; /* the next range of the same statement */
};

struct short_ranges {
    struct arena *arena;
    struct short_range *items;
    size_t count;
    struct short_statement *statements;
    size_t statement_count;
};

/* Make room for the ranges of `reads` reads. */
void short_ranges_init(struct short_ranges *ranges, size_t reads, struct arena *arena);

/* Release all results that were not cleared. */
void short_ranges_close(struct short_ranges *ranges);

/*
 * Add a range, zeroed except for its statement, for the caller to fill. beside: the previous range
 * of the same read, with the same form and direction; NULL: this is the first range of a read.
 */
struct short_range *short_ranges_add(
    struct short_ranges *ranges, const struct short_range *beside, enum short_form form, bool descending);

/* The approximate number of bytes of all parameters. */
size_t short_ranges_sent_bytes(const struct short_ranges *ranges);

/*
 * Send one statement. Several may be in a flight; they are taken in the order in which they were
 * sent.
 */
MUST_USE enum status short_ranges_send(struct session *session, const struct short_ranges *ranges,
    const struct short_statement *statement, struct error *err);

/*
 * Take the result of the statement. STATUS_STALE: the catalogue has changed, and the result does
 * not count.
 */
MUST_USE enum status short_ranges_take(
    struct session *session, struct short_statement *statement, struct error *err);
void short_ranges_clear(struct short_statement *statement);

/* An index entry with its entity. */
struct short_hit {
    struct entity_key entry;
    /*
     * the part of the entry's properties that names its source; empty: it is too long to be known
     */
    struct property_list named;
    bool found;           /* a live entity has the keys that the entry names */
    bool is_cut;          /* its properties have more bytes than the bound, and were left out */
    struct entity entity; /* except its key and its etag's table_id */
};

/* An answer that is made from ranges. */
struct short_answer {
    /* NULL: every live row is wanted */
    bool (*is_wanted)(const void *context, const struct entity *entity);
    const void *context;
    struct entity_sink *sink; /* takes rows, whose bytes are in the arena; NULL with hits */
    /* Takes a hit, which borrows from the result. false: the hit is not enough to decide. */
    bool (*take_hit)(void *taker, const struct short_hit *hit);
    void *taker;
    int64_t limit; /* number of rows or hits */
    struct arena *arena;

    /* In: where reading begins, if has_position. Out: the position that was reached. */
    bool has_position;
    struct entity_key position;

    int64_t count;
    bool more; /* more may follow the position */
    int64_t rows_examined, bytes_examined;
};

/*
 * Make an answer from consecutive ranges of one read, in their order, with the same result as
 * collect_entities. false: the rows are not enough to decide, because a range has more rows, or a
 * row more bytes, than were read.
 */
bool short_ranges_collect(const struct short_range *ranges, size_t count, struct short_answer *answer);

#endif
