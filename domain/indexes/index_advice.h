/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_advice.h - which index would help the queries of a table, according to the costs of their
 * shapes. Pure.
 */
#ifndef DOMAIN_INDEXES_INDEX_ADVICE_H
#define DOMAIN_INDEXES_INDEX_ADVICE_H

#include "domain/catalogue/catalogue.h"
#include "domain/sampling/shape_sketch.h"

/* An existing or possible index, with all queries that it could answer. */
struct index_advice {
    /* the declaration of a possible index (index_codec.h); empty: it exists */
    struct str definition;
    struct str existing; /* the name of an existing index */
    struct str *shapes;
    size_t shape_count;
    int64_t queries, examined, returned; /* of all these queries, as they were run */
    /* how many entries writes would have written in the same time, at most */
    int64_t entries;
};

/* An index that no query has read in all that time. */
struct unread_index {
    struct str name;
    int64_t entries; /* how many entries writes have written for it, at most */
};

struct index_advices {
    struct index_advice *items; /* the ones that would save most rows first */
    size_t count;
    struct unread_index *unread; /* of indexes that are READY and not unique */
    size_t unread_count;
};

/*
 * Make the advice for a table, in the arena. catalogue: the table's, to avoid names that are taken.
 * Some queries get no advice: queries by key; queries that no index could answer, because no
 * property is compared by equality, or only Timestamp is; and queries that return at least a tenth
 * of the rows they examine.
 */
struct index_advices index_advice_make(const struct catalogue *catalogue, const struct table *table,
    const struct shape_sketch *sketch, struct arena *arena);

#endif
