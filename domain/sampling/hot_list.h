/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_list.h - the partitions with most accesses over many tables and indexes, each with its access
 * pattern. Pure.
 */
#ifndef DOMAIN_SAMPLING_HOT_LIST_H
#define DOMAIN_SAMPLING_HOT_LIST_H

#include "domain/sampling/hot_pattern.h"

/* A table or an index, with its sketch. */
struct hot_table {
    struct str account, name;
    bool is_index;
    struct key_sketch sketch;
};

struct hot_partition {
    struct str account, table;
    bool is_index;
    struct str partition; /* possibly only the beginning of the key */
    bool is_cut;          /* the key is longer */
    /*
     * the row is not about this partition alone, but about the order in which partitions are
     * written; it is the last one
     */
    bool is_order;
    int64_t reads, writes;
    double share; /* of the accesses to its table, 0 to 1 */
    enum hot_pattern pattern;
    struct str row; /* SINGLE_KEY: the row key of that entity, possibly cut */
    const char *remedy;
    struct str example;
};

/*
 * Make the list: the first `limit` partitions, those with most accesses first. In the arena; texts
 * borrow from the sketches.
 */
void hot_list_make(const struct hot_table *tables, size_t table_count, size_t limit, struct arena *arena,
    struct hot_partition **out, size_t *count);

#endif
