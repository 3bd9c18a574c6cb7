/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_bounds.h - intervals of keys as statements need them: half open, [low, high).
 *
 * A key contains no character below U+0020, so the smallest key above k is k followed by U+0001.
 */
#ifndef STORE_QUERIES_ROW_BOUNDS_H
#define STORE_QUERIES_ROW_BOUNDS_H

#include "base/arena.h"
#include "domain/keys/key_filter.h"

/* The smallest text above this key that a key could be. */
struct str row_bounds_successor(struct str key, struct arena *arena);

/*
 * The ends of an interval. If the interval has no such end, the result is below, or above, every
 * key.
 */
struct str row_bounds_low(const struct interval *interval, struct arena *arena);
struct str row_bounds_high(const struct interval *interval, struct arena *arena);

/*
 * The part of a range that lies behind a position, in the direction of reading: the row keys from
 * out->row.low on and below out->row.high. The range lies in one partition. after: NULL at the
 * start. false: nothing is left.
 */
bool row_bounds_rest(const struct key_filter *range, const struct entity_key *after, bool descending,
    struct arena *arena, struct key_filter *out);

#endif
