/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_bounds.c - see the header.
 */
#include "store/queries/row_bounds.h"

#include "domain/limits.h"

/*
 * A text that sorts above every key: U+10FFFF, which is two UTF-16 units, once more often than fits
 * into a key.
 */
#define FOUR_TIMES(text) text text text text
#define LAST_CHARACTER "\xF4\x8F\xBF\xBF"
static const char above_every_key[] =
    FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(LAST_CHARACTER)))) LAST_CHARACTER;
_Static_assert(sizeof(above_every_key) - 1 == 4 * (LIMIT_KEY_UNITS / 2 + 1), "one character more than a key");

struct str row_bounds_successor(struct str key, struct arena *arena)
{
    return arena_format(arena, "%.*s\x01", STR_ARG(key));
}

struct str row_bounds_low(const struct interval *interval, struct arena *arena)
{
    if (!interval->has_low)
        return STR_EMPTY;
    return interval->low_open ? row_bounds_successor(interval->low, arena) : interval->low;
}

struct str row_bounds_high(const struct interval *interval, struct arena *arena)
{
    if (!interval->has_high)
        return STR_LITERAL(above_every_key);
    return interval->high_open ? interval->high : row_bounds_successor(interval->high, arena);
}

bool row_bounds_rest(const struct key_filter *range, const struct entity_key *after, bool descending,
    struct arena *arena, struct key_filter *out)
{
    struct str low = row_bounds_low(&range->row, arena), high = row_bounds_high(&range->row, arena);
    int order = after ? str_compare(range->partition.low, after->partition) : 0;

    if (after && order != 0 && descending == (order > 0))
        return false;
    if (after && order == 0 && descending && str_compare(after->row, high) < 0)
        high = after->row;
    if (after && order == 0 && !descending && str_compare(after->row, low) >= 0)
        low = row_bounds_successor(after->row, arena);
    *out = (struct key_filter){ .partition = range->partition, .row = { .low = low, .high = high } };
    return str_compare(low, high) < 0;
}
