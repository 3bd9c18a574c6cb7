/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogues.h - catalogues of tables that a test has made.
 */
#ifndef TESTS_SUPPORT_CATALOGUES_H
#define TESTS_SUPPORT_CATALOGUES_H

#include "domain/catalogue/catalogue.h"

/* Put borrowed tables, whose names and ids do not change from here on, as one family. */
static inline void put_tables(
    struct catalogue *catalogue, int64_t family_id, struct table *const *tables, size_t count)
{
    struct table_family *family = table_family_new(family_id);

    family->tables = ARENA_ARRAY(&family->arena, struct table *, count);
    for (size_t i = 0; i < count; i++)
        family->tables[i] = tables[i];
    family->table_count = count;
    catalogue_put(catalogue, family);
}

static inline struct catalogue *a_catalogue_of(struct table *const *tables, size_t count)
{
    struct catalogue *catalogue = catalogue_new();

    put_tables(catalogue, 1, tables, count);
    return catalogue;
}

#endif
