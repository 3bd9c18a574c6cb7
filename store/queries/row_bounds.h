/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_bounds.h - intervals of keys as statements take them: half open texts, [low, high).
 *
 * Keys hold no character below U+0020, so the first key behind k is k with U+0001 behind it.
 */
#ifndef STORE_QUERIES_ROW_BOUNDS_H
#define STORE_QUERIES_ROW_BOUNDS_H

#include "base/arena.h"
#include "domain/keys/key_filter.h"

/* The first text that can be a key behind this one. */
struct str row_bounds_successor(struct str key, struct arena *arena);

/* The ends of an interval; without an end: below, or above, every key. */
struct str row_bounds_low(const struct interval *interval, struct arena *arena);
struct str row_bounds_high(const struct interval *interval, struct arena *arena);

/*
 * What of a range is behind a position, in the direction of the reading: the row keys from out->row.low on and below
 * out->row.high. The range is in one partition. after: NULL if the reading begins. false: nothing is.
 */
bool row_bounds_rest(const struct key_filter *range, const struct entity_key *after, bool descending,
    struct arena *arena, struct key_filter *out);

#endif
