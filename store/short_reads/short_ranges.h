/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_ranges.h - the first rows of many ranges of keys, in few statements. Each range is in one partition, and is
 * bounded by rows, and by bytes of a row. The ranges of one read are in one statement, and so of one snapshot (guard
 * G21).
 *
 *     short_ranges_init;  short_ranges_add, ...
 *     for each statement: short_ranges_send
 *     for each statement: short_ranges_take;  short_ranges_collect, ...;  short_ranges_clear
 *
 * There are several statements, so that what the first brings is answered while the database is at the second.
 */
#ifndef STORE_SHORT_READS_SHORT_RANGES_H
#define STORE_SHORT_READS_SHORT_RANGES_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

enum {
    SHORT_RANGES_MAX_OF_READ = 4,            /* a number that is looked up stands for as many */
    SHORT_RANGES_MAX_ROWS = 32,              /* that an answer holds; one more is read of each range */
    SHORT_RANGES_MAX_BYTES = 64 * 1024,      /* of properties, of all ranges of a read */
    SHORT_RANGES_MAX_HIT_BYTES = 256 * 1024, /* the same of entities that entries are of */
    SHORT_RANGES_MAX_READS = 16,             /* of a statement */
};

/* What a statement brings. */
enum short_form {
    SHORT_ROWS, /* rows as they are */
    SHORT_HITS, /* of each index entry the live entity that it is of */
    SHORT_FORM_END
};

struct short_statement {
    enum short_form form;
    bool descending;
    size_t reads, count; /* count: of ranges */
    struct short_range *first, **last;
    PGresult *rows; /* what came; NULL: nothing yet, or cleared */
};

struct short_range {
    struct short_statement *statement;
    const struct table *table;
    struct key_filter keys;  /* as row_bounds_rest gives it */
    int64_t source_table_id; /* of index entries: the table that they are of; else 0 */
    bool asks_behind;        /* whether the indexes of that table may be behind is to be told */
    int64_t max_rows;
    int64_t max_bytes; /* of properties, of a row or of an entry's entity: more are left out */

    /* What came: rows of the statement's. */
    int first, count;
    bool is_behind;
    struct short_range *next; /* of the statement */
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

/* Drop what has come and was not cleared. */
void short_ranges_close(struct short_ranges *ranges);

/*
 * A range to be set up, zeroed but for its statement. beside: the range before it of the same read, which is of the
 * same form and direction; NULL: it is the first one of a read.
 */
struct short_range *short_ranges_add(
    struct short_ranges *ranges, const struct short_range *beside, enum short_form form, bool descending);

/* About the bytes of all parameters of the statements. */
size_t short_ranges_sent_bytes(const struct short_ranges *ranges);

/* Statements of one flight; they are taken in the order in which they were sent. */
MUST_USE enum status short_ranges_send(struct session *session, const struct short_ranges *ranges,
    const struct short_statement *statement, struct error *err);

/* STATUS_STALE: the catalogue has changed; nothing that was read counts. */
MUST_USE enum status short_ranges_take(
    struct session *session, struct short_statement *statement, struct error *err);
void short_ranges_clear(struct short_statement *statement);

/* What comes of an entry with its entity. */
struct short_hit {
    struct entity_key entry;
    struct property_list
        named;            /* the entry's properties as far as they name its source; empty: too long to tell */
    bool found;           /* there is a live entity under the keys named */
    bool is_cut;          /* without its properties, which are more than were asked for */
    struct entity entity; /* its key and its etag's table_id are not set */
};

/* What an answer is made of. */
struct short_answer {
    bool (*is_wanted)(const void *context, const struct entity *entity); /* NULL: every live row is */
    const void *context;
    struct entity_sink *sink; /* of rows; NULL with hits */
    /* Of hits: take one, whose bytes go with the statement's rows. false: it is not enough to tell. */
    bool (*take_hit)(void *taker, const struct short_hit *hit);
    void *taker;
    int64_t limit; /* of rows or hits */
    struct arena *arena;

    /* In: where the reading begins, if has_position; out: where it has come to. */
    bool has_position;
    struct entity_key position;

    int64_t count;
    bool more; /* there may be more behind the position */
    int64_t rows_examined, bytes_examined;
};

/*
 * Make an answer of consecutive ranges of one read, in their order, exactly as collect_entities would. false: what came
 * is not enough to tell, since a range has more rows, or a row more bytes, than were asked for.
 */
bool short_ranges_collect(const struct short_range *ranges, size_t count, struct short_answer *answer);

#endif
