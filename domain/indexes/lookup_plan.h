/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_plan.h - from the values of a look-up to the ranges of entries that answer it. Pure.
 *
 * A look-up equates what filters equate (docs/filters.md): a value finds itself and what it widens to, an Int32 the
 * equal Int64 and Double, an Int64 the equal Double, and 0.0 is -0.0. In keys these are different texts, so there is
 * one range for each. Indexes built by any version are read right, also while servers of two versions run; one common
 * text would need every index with numbers to be built anew, and could not tell an Int32 from an Int64 where a
 * filter does: `P eq 5L` does not match the Int32 5.
 */
#ifndef DOMAIN_INDEXES_LOOKUP_PLAN_H
#define DOMAIN_INDEXES_LOOKUP_PLAN_H

#include "domain/catalogue/catalogue.h"
#include "domain/filter/filter.h"
#include "domain/operations/operation.h"

/* The entries that answer a look-up: those in `keys` for which lookup_range_holds is true. */
struct lookup_range {
    /*
     * Ascending and disjoint; none: no entry can match. If there are several, the partition of each is a single
     * value.
     */
    struct key_filter *keys;
    size_t count; /* 0..LIMIT_LOOKUP_RANGES */
    /*
     * NULL, or one per range of keys. Set for a range of strings: values of other types, which are to be skipped, may
     * lie in this interval of the row keys.
     */
    struct interval *others;
};

/*
 * equals, equal_count and range of *in are read. `equals` bind the property parts in order: those of the partition key,
 * then those of the row key, at last the source's own keys behind them (index_row_parts). `range` bounds the part after
 * the last bound one.
 *
 * The partition key's parts must all be bound by equality; nothing bound at all, and no range: every entry.
 * Both ends of a range are of one type; with one end the range keeps to that type, and those it widens to. An end
 * beyond what the part's width can hold is an end all the same: everything the part can hold is on one side of it.
 *
 * STATUS_INVALID  INVALID_INPUT: too few or too many values, a value that the part cannot hold (the message
 *                 and `property` name the part), ends of two types; more than LIMIT_LOOKUP_RANGES ranges, which
 *                 takes seven numbers of narrower types than Double (`limit`)
 */
MUST_USE enum status lookup_plan(const struct index *index, const struct operation_lookup *in,
    struct arena *arena, struct lookup_range *out, struct error *err);

/* Whether an entry belongs to the answer. */
bool lookup_range_holds(const struct lookup_range *range, const struct entity_key *entry);

#endif
