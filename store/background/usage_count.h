/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_count.h - counts what accounts hold: one pass over all pages of the table of entities, a chunk at a time.
 *
 * Writers do nothing for it, so a write costs the same with and without quotas, and whatever way a row came or went, by
 * a write, a transaction, the expiry or a purge, the next count has it. In return usage is as old as the last count,
 * and rows that are updated during a count may be counted twice or not at all in it.
 *
 * The state of a count is the caller's; a worker that dies loses its count, and the next one begins anew.
 */
#ifndef STORE_BACKGROUND_USAGE_COUNT_H
#define STORE_BACKGROUND_USAGE_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/session/worker.h"

/* Of one table, or table of entries. */
struct table_usage {
    int64_t table_id, rows, bytes;
};

/* Zeroed: a count that has not begun. */
struct usage_count {
    int64_t next_block, blocks;
    struct table_usage *tables; /* in the order of their ids */
    size_t table_count, room;
};

/*
 * Count one chunk. After the last one the result is stored, servers take it over within a second, *ended is true, and
 * `count` is zeroed. If it fails, the same chunk can be counted again.
 */
MUST_USE enum status usage_count_chunk(
    struct worker *store, struct usage_count *count, bool *ended, struct error *err);

/* Give the count up. */
void usage_count_drop(struct usage_count *count);

#endif
