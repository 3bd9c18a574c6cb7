/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_shape.h - what a query asks for, without its values: its properties, and how each is
 * compared.
 *
 * As text, a shape has a token for each property: "=State <Age ?Note". `=`: all matches have one
 * value; `<`: all matches are in a range, or begin with a text; `?`: anything else, by which an
 * index cannot find entities. PartitionKey, RowKey and Timestamp count as properties. Tokens are
 * sorted, and each occurs once. Pure.
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

/*
 * The shape of a filter, in the arena. Empty if there is no filter, or if the shape has more than
 * MAX_SHAPE_BYTES.
 */
struct str query_shape_of(const struct filter *filter, struct arena *arena);

/*
 * Split a shape into its tokens, which borrow from the text. false: the text is not a shape. In the
 * arena.
 */
bool query_shape_read(struct str text, struct arena *arena, struct shape_token **out, size_t *count);

#endif
