/*
 * filter.h - OData filter text. Parsed in full; honoured so far are comparisons of PartitionKey and RowKey
 * with string literals (eq, ne, gt, ge, lt, le), joined by `and`. Anything else that is well formed is NOT_IMPLEMENTED.
 *
 * Pure. Depth, size and number of comparisons are bounded by limits.h.
 */
#ifndef DOMAIN_FILTER_H
#define DOMAIN_FILTER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "domain/entity.h"

/* The values between low and high. */
struct interval {
    bool has_low, has_high;
    bool low_open, high_open; /* open: the bound itself is not in it */
    struct str low, high;
};

/* A key that does not match: `ne`. */
struct key_exclusion {
    const struct key_exclusion *next;
    bool of_row; /* a row key; else a partition key */
    struct str text;
};

/* A filter reduced to ranges of the two keys, less some. */
struct key_filter {
    bool nothing; /* contradictory: no key matches */
    struct interval partition;
    struct interval row;
    const struct key_exclusion *excluded;
};

/* Filter text made ready to be tested against entities. Immutable; lives in the arena it was compiled into. */
struct filter;

/*
 * Compile text. *out is NULL when the text is empty: a filter that matches everything, which every function
 * below accepts. The text is copied, so that the filter borrows nothing.
 *
 * STATUS_OK
 * STATUS_INVALID        INVALID_INPUT with its `position` (bytes from 0): a syntax error, something that is not
 *                       Boolean, a comparison with null; too long, too deep, too many comparisons
 * STATUS_UNIMPLEMENTED  NOT_IMPLEMENTED with `position` and `allowed`: well formed, but not supported
 */
MUST_USE enum status filter_compile(
    struct str text, struct arena *arena, const struct filter **out, struct error *err);

/* Whether the entity matches: decided on its stored bytes, without allocating. */
bool filter_matches(const struct filter *filter, const struct entity *entity);

/*
 * The source text of the first operand of the outermost `and` that does not hold (the whole text where there
 * is no such `and`); empty when the filter matches. Borrows from the filter.
 */
struct str filter_failing_clause(const struct filter *filter, const struct entity *entity);

/*
 * Where the matches of a filter lie. Every match is within `range`; and it is one of `points` when there are
 * any.
 */
struct key_plan {
    struct key_filter range; /* range.nothing: no entity can match */
    const struct entity_key
        *points;        /* NULL: not limited to single keys; else ascending, without duplicates */
    size_t point_count; /* 0, or 1..LIMIT_FILTER_POINTS */
    bool exact; /* every entity in the range (of the points, if any) matches: no need for filter_matches */
};

void filter_key_plan(const struct filter *filter, struct arena *arena, struct key_plan *out);

/*
 * Only key ranges: parse text into them; empty text matches everything. Literals are unescaped into the arena.
 *
 * STATUS_OK
 * STATUS_INVALID        INVALID_INPUT: a syntax error, with its `position` (bytes from 0); too long, too deep
 * STATUS_UNIMPLEMENTED  NOT_IMPLEMENTED: well formed, but more than key comparisons joined by `and`
 */
MUST_USE enum status key_filter_parse(
    struct str text, struct arena *arena, struct key_filter *out, struct error *err);

bool interval_contains(const struct interval *interval, struct str text);
bool interval_is_point(const struct interval *interval);
bool key_filter_matches(const struct key_filter *filter, const struct entity_key *key);

#endif
