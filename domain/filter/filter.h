/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - OData filter text: which entities a caller wants. docs/filters.md explains the
 * language.
 *
 * Pure. Depth, size and number of comparisons are bounded by limits.h.
 */
#ifndef DOMAIN_FILTER_FILTER_H
#define DOMAIN_FILTER_FILTER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "domain/entities/entity.h"
#include "domain/keys/key_filter.h"

/* A compiled filter. Immutable; it lives in the arena in which it was compiled. */
struct filter;

/*
 * Compile text. *out is NULL when the text is empty: a filter that matches everything, which every
 * function below accepts. The text is copied, so that the filter borrows nothing.
 *
 * STATUS_OK
 * STATUS_INVALID        INVALID_INPUT with its `position` (bytes from 0): a syntax error; an operand
 *                       that is not Boolean; a comparison with null; too long, too deep, too many
 *                       comparisons or searches. PROPERTY_NAME_INVALID, PROPERTY_NAME_TOO_LONG with
 *                       `position`: a property cannot have this name
 * STATUS_UNIMPLEMENTED  NOT_IMPLEMENTED with `position` and `allowed`: well formed, not supported
 */
MUST_USE enum status filter_compile(
    struct str text, struct arena *arena, const struct filter **out, struct error *err);

/*
 * Check a filter over objects that have one property, which is not Boolean (such as the name of a
 * table). The filter may name only this property, neither keys nor Timestamp, and may use it only in
 * comparisons and functions.
 *
 * STATUS_INVALID  INVALID_INPUT with `position` and `allowed`
 */
MUST_USE enum status filter_check_only(const struct filter *filter, const char *property, struct error *err);

/* The names of the properties that the filter tests, in the arena; returns their number. */
size_t filter_names(const struct filter *filter, struct arena *arena, const struct str **names);

/*
 * Whether the filter names PartitionKey and RowKey only, so that keys without properties can be
 * tested.
 */
bool filter_asks_keys_only(const struct filter *filter);

/* Whether the entity matches. Reads the stored bytes and does not allocate. */
bool filter_matches(const struct filter *filter, const struct entity *entity);

/*
 * The bytes that the filter's searches for a text within a text look through in one entity, at
 * most: what a test of this entity costs beyond reading it.
 */
int64_t filter_searched_bytes(const struct filter *filter, const struct entity *entity);

/*
 * The source text of the first operand of the outermost `and` that does not hold (the whole text
 * where there is no such `and`); empty when the filter matches. Borrows from the filter.
 */
struct str filter_failing_clause(const struct filter *filter, const struct entity *entity);

/*
 * The keys among which all matches of a filter lie: within `range`, and, if `points` is set, one of
 * them.
 */
struct key_plan {
    struct key_filter range; /* range.nothing: no entity can match */
    /* NULL: not limited to single keys; else ascending, without duplicates */
    const struct entity_key *points;
    size_t point_count; /* 0, or 1..LIMIT_FILTER_POINTS */
    /* every entity in the range, or of the points, matches: filter_matches need not be called */
    bool exact;
};

void filter_key_plan(const struct filter *filter, struct arena *arena, struct key_plan *out);

#endif
