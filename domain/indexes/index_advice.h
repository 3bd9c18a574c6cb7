/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_advice.h - which index would help the queries of a table, by what their shapes have cost.
 *
 * Pure.
 */
#ifndef DOMAIN_INDEXES_INDEX_ADVICE_H
#define DOMAIN_INDEXES_INDEX_ADVICE_H

#include "domain/catalogue/catalogue.h"
#include "domain/sampling/shape_sketch.h"

/* An index that is there or could be, for all queries it would answer. */
struct index_advice {
    struct str definition; /* the declaration of one that could be (index_codec.h); empty: there is one */
    struct str existing;   /* its name, if there is one */
    struct str *shapes;
    size_t shape_count;
    int64_t queries, examined, returned; /* of all these queries, as they were */
    int64_t entries;                     /* that writes would have written in the same time, at most */
};

/* An index that was not read in all that time. */
struct unread_index {
    struct str name;
    int64_t entries; /* that writes have written for it, at most */
};

struct index_advices {
    struct index_advice *items; /* those that save most rows first */
    size_t count;
    struct unread_index *unread; /* of indexes that are READY and not unique */
    size_t unread_count;
};

/*
 * The advice for a table. catalogue: the table's, for names that are taken. Queries by key are left alone, as are those
 * by which no index finds (nothing is equal, or only Timestamp), and those that return a tenth of the rows they examine
 * or more. In the arena.
 */
struct index_advices index_advice_make(const struct catalogue *catalogue, const struct table *table,
    const struct shape_sketch *sketch, struct arena *arena);

#endif
