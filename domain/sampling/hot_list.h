/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_list.h - the partitions with most accesses over many tables and indexes, each with what it looks like.
 *
 * Pure.
 */
#ifndef DOMAIN_SAMPLING_HOT_LIST_H
#define DOMAIN_SAMPLING_HOT_LIST_H

#include "domain/sampling/hot_pattern.h"

/* A table or an index, with what was sampled of it. */
struct hot_table {
    struct str account, name;
    bool is_index;
    struct key_sketch sketch;
};

struct hot_partition {
    struct str account, table;
    bool is_index;
    struct str partition; /* as far as it is kept */
    bool is_cut;          /* the key is longer */
    bool
        is_order; /* not this partition alone: the order in which partitions are written, of which it is the last */
    int64_t reads, writes;
    double share; /* of the accesses of its table, 0 to 1 */
    enum hot_pattern pattern;
    struct str row; /* SINGLE_KEY: the row key of that entity, as far as it is kept */
    const char *remedy;
    struct str example;
};

/* The first `limit`, those with most accesses first. In the arena; texts borrow the sketches. */
void hot_list_make(const struct hot_table *tables, size_t table_count, size_t limit, struct arena *arena,
    struct hot_partition **out, size_t *count);

#endif
