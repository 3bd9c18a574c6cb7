/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_axis.h - a set of values of a partition key or row key, as filters define it: an interval, or
 * single values.
 *
 * Pure. Bounds and values are borrowed.
 */
#ifndef DOMAIN_KEYS_KEY_AXIS_H
#define DOMAIN_KEYS_KEY_AXIS_H

#include "base/arena.h"
#include "domain/keys/key_filter.h"

struct key_axis {
    struct interval hull;     /* the smallest interval that contains it */
    const struct str *values; /* if is_finite: ascending, without duplicates, perhaps none */
    size_t count;
    bool is_finite;
};

/*
 * Make a set from an interval. An interval with a single value, or without one, becomes finite; the
 * smallest key is the empty text.
 */
struct key_axis key_axis_of(struct interval interval, struct arena *arena);

/* The set of all values; and whether a set is that set. */
struct key_axis key_axis_all(void);
bool key_axis_is_all(const struct key_axis *axis);

bool key_axis_is_empty(const struct key_axis *axis);
bool key_axis_contains(const struct key_axis *axis, struct str text);
bool key_axis_equal(const struct key_axis *a, const struct key_axis *b);

struct key_axis key_axis_intersect(const struct key_axis *a, const struct key_axis *b, struct arena *arena);

/* The union; or, with exact set to false, the smallest interval that contains it. */
struct key_axis key_axis_unite(
    const struct key_axis *a, const struct key_axis *b, struct arena *arena, bool *exact);

#endif
