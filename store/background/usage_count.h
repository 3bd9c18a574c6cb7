/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_count.h - counts the entities and bytes that accounts hold, in one pass over all pages of
 * the tables of entities, of chunks of blobs and of strays, some pages at a time.
 *
 * Writers do not maintain these counts, so a write costs the same with and without quotas, and the
 * next count includes every row, whether a write, a transaction, the expiry or a purge inserted or
 * removed it. In return usage is as old as the last count, and a row that is updated during a count
 * may be counted twice or not at all.
 *
 * The caller owns the state of a count. If a worker dies, its count is lost, and the next one
 * begins at the first page.
 */
#ifndef STORE_BACKGROUND_USAGE_COUNT_H
#define STORE_BACKGROUND_USAGE_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct worker;

/* The usage of one table, of the table of an index's entries, or of one account's blobs. */
struct table_usage {
    int64_t table_id;   /* 0: of blobs */
    struct str account; /* of blobs; empty: of a table */
    int64_t rows, bytes;
};

enum { USAGE_COUNTED_TABLES = 3 };

/* The state of a count; all zero: no count has begun. */
struct usage_count {
    int64_t next_block, blocks;         /* of all counted tables, as if they were one */
    int64_t ends[USAGE_COUNTED_TABLES]; /* the block behind the last one of each */
    struct arena names;                 /* of accounts */
    struct table_usage *tables;         /* in the order of ids and accounts */
    size_t table_count, room;
};

/*
 * Count one chunk. After the last chunk the result is stored, *ended is true and `count` is zeroed;
 * servers apply the result within a second. If the call fails, the same chunk can be counted again.
 */
MUST_USE enum status usage_count_chunk(
    struct worker *store, struct usage_count *count, bool *ended, struct error *err);

/* Give up the count, and release its memory. */
void usage_count_drop(struct usage_count *count);

#endif
