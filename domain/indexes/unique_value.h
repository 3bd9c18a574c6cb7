/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique_value.h - the value that an entity owns in a unique index, in one form for all values that
 * are equal.
 *
 * The form is a SHA-256 over the values of the declared parts that are properties, without the
 * source's keys, with which the row key of an entry ends. Numbers are equal if they are numerically
 * equal, whatever their types: the Int32 5, the Int64 5 and the Double 5.0; so are 0.0 and -0.0.
 * Values of two other types are never equal. Pure.
 */
#ifndef DOMAIN_INDEXES_UNIQUE_VALUE_H
#define DOMAIN_INDEXES_UNIQUE_VALUE_H

#include <stdbool.h>

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"
#include "domain/entities/row_state.h"
#include "domain/keys/entity_key.h"

struct unique_value {
    unsigned char bytes[32];
};

/* false: an entity in this state has no entry in the index, so it has no value. */
bool unique_value_of(const struct index *index, const struct entity_key *key, const struct row_state *state,
    struct arena *arena, struct unique_value *out);

/* Compare in the order in which owners are locked. */
int unique_value_compare(const struct unique_value *a, const struct unique_value *b);

/* The names of the properties that make the value, as in "Street, City", in the arena. */
struct str unique_value_properties(const struct index *index, struct arena *arena);

#endif
