/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_shape.h - what the shapes of an index differ in: one table with a row of facts and pure functions per shape.
 *
 * Code that depends on the shape asks the row and never compares the shape itself, so that a new shape is a new row.
 * What needs the database to be read has its row in store/queries/shape_reader.c.
 *
 * The shape is one dimension of a declaration. Where the entries lie (enum index_place), whether they are written with
 * their source or after it (consistency), and whether a value may occur twice (unique) are others, which combine with
 * every shape: each of them needs a table of its own beside this one, not members in these rows.
 */
#ifndef DOMAIN_INDEXES_INDEX_SHAPE_H
#define DOMAIN_INDEXES_INDEX_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"
#include "domain/properties/property.h"

struct index_shape_rules {
    const char *name; /* of the value in the API, without its prefix: "COPY" */

    /* What a declaration may hold; api/codec_index.c refuses the rest. */
    bool may_project;    /* it may say which properties of the source an entry holds */
    bool needs_property; /* at least one part of its keys must be a property */
    bool may_be_unique;  /* it may say that each value has one owner */

    /*
     * How an entry is made (index_plan.c). Its row key ends with those of the source's two keys that the declaration
     * has not named; if repeats_source_keys, with both in any case. select_records: those property records of the
     * source that the entry holds; they borrow the source's, or lie in the arena.
     */
    bool repeats_source_keys;
    struct str (*select_records)(
        const struct index *index, struct property_list properties, struct arena *arena);

    /* How entries are read. */
    bool entries_are_entities; /* an answer has each entry unchanged; else shape_reader.c has a reader */
    bool keys_divide_entities; /* a signature that is limited to a range of keys may read them */
};

/* By shape. */
extern const struct index_shape_rules index_shape_table[INDEX_SHAPE_END];

/* The row of a shape; shapes are checked where a declaration is decoded. Each write of an indexed entity asks. */
static inline const struct index_shape_rules *index_shape_rules(enum index_shape shape)
{
    return &index_shape_table[shape];
}

/* Whether the number, from a request or from stored bytes, is that of a shape. */
bool index_shape_is_known(int64_t number);

/* The names of all shapes, such as "COPY or LIST", in the arena. */
const char *index_shape_names(struct arena *arena);

#endif
