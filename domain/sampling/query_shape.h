/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_shape.h - what a query asks for without its values: the set of its properties, and how each is compared.
 *
 * As text, a token per property: "=State <Age ?Note". `=`: every match has one given value; `<`: every match lies in a
 * range, or begins with a text; `?`: anything else, by which no index finds. PartitionKey, RowKey and Timestamp count
 * as properties. Tokens are sorted, and each is there once.
 *
 * Pure.
 */
#ifndef DOMAIN_SAMPLING_QUERY_SHAPE_H
#define DOMAIN_SAMPLING_QUERY_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

struct filter;

enum { MAX_SHAPE_BYTES = 400 };

enum shape_use { SHAPE_EQUAL = '=', SHAPE_RANGE = '<', SHAPE_OTHER = '?' };

struct shape_token {
    enum shape_use use;
    struct str name; /* of the property */
};

/* In the arena. Empty: no filter, or one whose shape has more than MAX_SHAPE_BYTES. */
struct str query_shape_of(const struct filter *filter, struct arena *arena);

/* The tokens of such a text, which they borrow; false: it is none. In the arena. */
bool query_shape_read(struct str text, struct arena *arena, struct shape_token **out, size_t *count);

#endif
