/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_axis.c - see the header.
 */
#include "domain/keys/key_axis.h"

#include <stdlib.h>

/* ---- intervals ---- */

static bool is_empty(const struct interval *interval)
{
    int order;

    if (!interval->has_low || !interval->has_high)
        return false;
    order = str_compare(interval->low, interval->high);
    return order > 0 || (order == 0 && (interval->low_open || interval->high_open));
}

/*
 * The larger of two low bounds, where no bound is the smallest; the same for high bounds, reversed.
 */
static bool low_is_inner(const struct interval *a, const struct interval *b)
{
    int order;

    if (!a->has_low || !b->has_low)
        return a->has_low;
    order = str_compare(a->low, b->low);
    return order > 0 || (order == 0 && a->low_open);
}

static bool high_is_inner(const struct interval *a, const struct interval *b)
{
    int order;

    if (!a->has_high || !b->has_high)
        return a->has_high;
    order = str_compare(a->high, b->high);
    return order < 0 || (order == 0 && a->high_open);
}

static struct interval interval_of_bounds(const struct interval *low, const struct interval *high)
{
    return (struct interval){
        .has_low = low->has_low,
        .low_open = low->low_open,
        .low = low->low,
        .has_high = high->has_high,
        .high_open = high->high_open,
        .high = high->high,
    };
}

static bool interval_equal(const struct interval *a, const struct interval *b)
{
    if (a->has_low != b->has_low || a->has_high != b->has_high)
        return false;
    if (a->has_low && (a->low_open != b->low_open || !str_equal(a->low, b->low)))
        return false;
    return !a->has_high || (a->high_open == b->high_open && str_equal(a->high, b->high));
}

/* ---- axes ---- */

static struct key_axis of_values(const struct str *values, size_t count)
{
    struct key_axis axis = { .values = values, .count = count, .is_finite = true };

    if (count > 0)
        axis.hull = (struct interval){
            .has_low = true, .has_high = true, .low = values[0], .high = values[count - 1]
        };
    return axis;
}

struct key_axis key_axis_of(struct interval interval, struct arena *arena)
{
    struct str *value;

    if (interval.has_low && interval.low.len == 0 && !interval.low_open)
        interval.has_low = false;
    if (interval.has_high && interval.high.len == 0 && !interval.has_low) {
        interval.has_low = true;
        interval.low_open = false;
        interval.low = STR_EMPTY;
    }
    if (is_empty(&interval))
        return of_values(NULL, 0);
    if (!interval_is_point(&interval))
        return (struct key_axis){ .hull = interval };
    value = ARENA_NEW(arena, struct str);
    *value = interval.low;
    return of_values(value, 1);
}

struct key_axis key_axis_all(void)
{
    return (struct key_axis){ .is_finite = false };
}

bool key_axis_is_all(const struct key_axis *axis)
{
    return !axis->is_finite && !axis->hull.has_low && !axis->hull.has_high;
}

bool key_axis_is_empty(const struct key_axis *axis)
{
    return axis->is_finite && axis->count == 0;
}

static int compare_texts(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

bool key_axis_contains(const struct key_axis *axis, struct str text)
{
    if (!axis->is_finite)
        return interval_contains(&axis->hull, text);
    return axis->count > 0 && bsearch(&text, axis->values, axis->count, sizeof(text), compare_texts);
}

bool key_axis_equal(const struct key_axis *a, const struct key_axis *b)
{
    if (a->is_finite != b->is_finite || a->count != b->count)
        return false;
    if (!a->is_finite)
        return interval_equal(&a->hull, &b->hull);
    for (size_t i = 0; i < a->count; i++)
        if (!str_equal(a->values[i], b->values[i]))
            return false;
    return true;
}

struct key_axis key_axis_intersect(const struct key_axis *a, const struct key_axis *b, struct arena *arena)
{
    const struct key_axis *finite = a->is_finite ? a : b, *other = a->is_finite ? b : a;
    struct str *values;
    size_t count = 0;

    if (!finite->is_finite)
        return key_axis_of(interval_of_bounds(low_is_inner(&a->hull, &b->hull) ? &a->hull : &b->hull,
                               high_is_inner(&a->hull, &b->hull) ? &a->hull : &b->hull),
            arena);
    values = ARENA_ARRAY(arena, struct str, finite->count + 1);
    for (size_t i = 0; i < finite->count; i++)
        if (key_axis_contains(other, finite->values[i]))
            values[count++] = finite->values[i];
    return of_values(values, count);
}

static struct key_axis unite_values(const struct key_axis *a, const struct key_axis *b, struct arena *arena)
{
    struct str *values = ARENA_ARRAY(arena, struct str, a->count + b->count + 1);
    size_t count = 0, i = 0, j = 0;

    while (i < a->count || j < b->count) {
        int order = i == a->count ? 1 : j == b->count ? -1 : str_compare(a->values[i], b->values[j]);

        values[count++] = order <= 0 ? a->values[i] : b->values[j];
        i += order <= 0;
        j += order >= 0;
    }
    return of_values(values, count);
}

struct key_axis key_axis_unite(
    const struct key_axis *a, const struct key_axis *b, struct arena *arena, bool *exact)
{
    *exact = true;
    if (a->is_finite && b->is_finite)
        return unite_values(a, b, arena);
    if (key_axis_is_empty(a) || key_axis_is_empty(b))
        return key_axis_is_empty(a) ? *b : *a;
    *exact = false;
    return key_axis_of(interval_of_bounds(low_is_inner(&a->hull, &b->hull) ? &b->hull : &a->hull,
                           high_is_inner(&a->hull, &b->hull) ? &b->hull : &a->hull),
        arena);
}
