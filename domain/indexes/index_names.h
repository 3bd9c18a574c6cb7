/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_names.h - the properties from which an entry is made: those of its keys, of the index's filter, and
 * those that it copies. Of a wide entity nothing else is read for its entries. Pure.
 *
 * A table with wide entities has no index that copies all properties.
 */
#ifndef DOMAIN_INDEXES_INDEX_NAMES_H
#define DOMAIN_INDEXES_INDEX_NAMES_H

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"

/* The names, in the arena, ascending and each once; returns how many. */
size_t index_names_of(const struct index *index, struct arena *arena, const struct str **names);

/* The same for a read, to which no names would mean all properties: at least one, which may be no property's. */
size_t index_names_to_read(const struct index *index, struct arena *arena, const struct str **names);

/* As index_names_to_read, without those that the entry copies: they tell whether an entity still has its entry. */
size_t index_names_of_key(const struct index *index, struct arena *arena, const struct str **names);

/* The same for all indexes of the table together. */
size_t index_names_of_table(const struct table *table, struct arena *arena, const struct str **names);

#endif
