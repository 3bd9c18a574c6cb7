/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_plan.h - turns the values of a look-up into the ranges of entries that answer it. Pure.
 *
 * In a look-up, the same values are equal as in a filter (docs/filters.md): an Int32 equals the
 * same Int64 and Double, an Int64 the same Double, and 0.0 equals -0.0. Encoded in keys these are
 * different texts, so each of them needs a range of its own. With one common text instead, every
 * index with numbers would have to be built again, and a look-up could not distinguish an Int32
 * from an Int64 where a filter does: `P eq 5L` does not match the Int32 5.
 */
#ifndef DOMAIN_INDEXES_LOOKUP_PLAN_H
#define DOMAIN_INDEXES_LOOKUP_PLAN_H

#include "domain/catalogue/catalogue.h"
#include "domain/filter/filter.h"
#include "domain/operations/operation.h"

/* The entries that answer a look-up: those in `keys` for which lookup_range_holds is true. */
struct lookup_range {
    /*
     * Ascending and disjoint; none: no entry can match. If there are several, each lies in one
     * partition.
     */
    struct key_filter *keys;
    size_t count; /* 0..LIMIT_LOOKUP_RANGES */
    /*
     * NULL, or one interval of row keys per range. It is set for a range of strings: values of
     * other types, which must be skipped, may lie in the interval.
     */
    struct interval *others;
};

/*
 * Read equals, equal_count and range of *in. `equals` bind the parts that are properties, in order:
 * those of the partition key, then those of the row key, then the source's own keys behind them
 * (index_row_parts). `range` bounds the part behind the last bound one.
 *
 * All parts of the partition key must be bound by equality. If nothing is bound and there is no
 * range, every entry matches. Both ends of a range have one type; a range with one end matches that
 * type and the types it widens to. An end beyond what the width of the part allows is valid: all
 * values of the part are on one side of it.
 *
 *   STATUS_INVALID  INVALID_INPUT: too few or too many values; a value that the part cannot hold (the message
 *                   and `property` name the part); ends of two types; more than LIMIT_LOOKUP_RANGES ranges, which
 *                   takes seven numbers of types narrower than Double (`limit`)
 */
MUST_USE enum status lookup_plan(const struct index *index, const struct operation_lookup *in,
    struct arena *arena, struct lookup_range *out, struct error *err);

/* Whether an entry belongs to the answer. */
bool lookup_range_holds(const struct lookup_range *range, const struct entity_key *entry);

#endif
