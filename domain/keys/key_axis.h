/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_axis.h - a set of values of one of the two keys, as filters make them: an interval, or single values.
 *
 * Pure. The text of bounds and values is borrowed.
 */
#ifndef DOMAIN_KEYS_KEY_AXIS_H
#define DOMAIN_KEYS_KEY_AXIS_H

#include "base/arena.h"
#include "domain/keys/key_filter.h"

struct key_axis {
    struct interval hull;     /* the least interval that holds it */
    const struct str *values; /* is_finite: ascending, without duplicates; may be none */
    size_t count;
    bool is_finite;
};

/* An interval; one that holds a single value or none becomes finite. Keys begin at the empty text. */
struct key_axis key_axis_of(struct interval interval, struct arena *arena);

/* Every value, and whether it is that. */
struct key_axis key_axis_all(void);
bool key_axis_is_all(const struct key_axis *axis);

bool key_axis_is_empty(const struct key_axis *axis);
bool key_axis_contains(const struct key_axis *axis, struct str text);
bool key_axis_equal(const struct key_axis *a, const struct key_axis *b);

struct key_axis key_axis_intersect(const struct key_axis *a, const struct key_axis *b, struct arena *arena);

/* The union, or (exact false) the least interval that holds it. */
struct key_axis key_axis_unite(
    const struct key_axis *a, const struct key_axis *b, struct arena *arena, bool *exact);

#endif
