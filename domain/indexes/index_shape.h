/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_shape.h - what the shapes of an index differ in: one table with a row of facts and pure
 * functions per shape.
 *
 * Code that depends on the shape uses the row and never compares the shape itself, so that a new
 * shape is a new row. What depends on the database has its row in store/queries/shape_reader.c.
 *
 * The shape is one dimension of a declaration. Other dimensions are where the entries lie (enum
 * index_place), whether they are written with their source or after it (consistency), and whether a
 * value may occur twice (unique). They combine with every shape, so each of them needs a table of
 * its own, not members in these rows.
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

    /* What a declaration may contain; api/codec_index.c refuses the rest. */
    bool may_project;    /* it may choose the properties of the source that an entry holds */
    bool needs_property; /* at least one part of its keys must be a property */
    bool may_be_unique;  /* it may declare that each value has one owner */

    /*
     * How an entry is made (index_plan.c). The source's two keys are appended to its row key,
     * unless the declaration has them; if repeats_source_keys is set, both in any case.
     * select_records returns the property records of the source that the entry holds; they borrow
     * the source's, or lie in the arena.
     */
    bool repeats_source_keys;
    struct str (*select_records)(
        const struct index *index, struct property_list properties, struct arena *arena);

    /* How entries are read. */
    /* an answer contains each entry unchanged; otherwise shape_reader.c has a reader */
    bool entries_are_entities;
    /* a signature that is limited to a range of keys may read the entries */
    bool keys_divide_entities;
};

/* By shape. */
extern const struct index_shape_rules index_shape_table[INDEX_SHAPE_END];

/*
 * The row of a shape. Shapes are checked when a declaration is decoded. Called for each write of an
 * indexed entity, so inline.
 */
static inline const struct index_shape_rules *index_shape_rules(enum index_shape shape)
{
    return &index_shape_table[shape];
}

/* Whether a number, from a request or from stored bytes, is a shape. */
bool index_shape_is_known(int64_t number);

/* The names of all shapes, such as "COPY or LIST", in the arena. */
const char *index_shape_names(struct arena *arena);

#endif
