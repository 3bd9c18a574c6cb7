/*
 * lookup_plan.h - from the values of a look-up to the range of entries that answers it. Pure.
 */
#ifndef DOMAIN_LOOKUP_PLAN_H
#define DOMAIN_LOOKUP_PLAN_H

#include "domain/catalogue.h"
#include "domain/filter.h"
#include "domain/operation.h"

/* The entries of an answer are those in `keys` of which lookup_range_holds is true. */
struct lookup_range {
    struct key_filter keys;
    bool has_others;        /* a range of strings: between them may lie values of other types, ... */
    struct interval others; /* ... in this part of the row keys */
};

/*
 * `equals` bind the property parts in order: those of the partition key, then those of the row key, at last
 * the source's own keys behind them (index_row_parts). `range` bounds the part after the last bound one.
 *
 * The partition key's parts must all be bound by equality; nothing bound at all, and no range: every entry.
 * Both ends of a range are of one type; with one end the range keeps to that type.
 *
 * STATUS_INVALID  INVALID_INPUT: too few or too many values, a value that the part cannot hold (the message
 *                 and `property` name the part), ends of two types
 */
MUST_USE enum status lookup_plan(const struct index *index, const struct value *equals, size_t equal_count,
    const struct value_range *range, struct arena *arena, struct lookup_range *out, struct error *err);

/* Whether an entry that was read from `keys` belongs to the answer. */
bool lookup_range_holds(const struct lookup_range *range, const struct entity_key *entry);

#endif
