/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_scope.c - the values are stored as a list of properties: "0A", "0B" and so on for the
 * values compared by equality, "1" and "2" for the ends of the range. The list is a form that is
 * stored anyway, and checked when it is read.
 */
#include "domain/indexes/verify_scope.h"

#include "domain/limits.h"

enum { MAX_VALUES = 2 * LIMIT_KEY_PARTS };

static const struct str at_least_name = { "1", 1 }, below_name = { "2", 1 };

static struct str value_name(size_t number, struct arena *arena)
{
    return arena_format(arena, "0%c", (int)('A' + number));
}

struct str verify_scope_encode(const struct operation_lookup *values, struct arena *arena)
{
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    buf_init(&out, arena);
    for (size_t i = 0; i < values->equal_count; i++)
        property_build(&builder, value_name(i, arena), &values->equals[i]);
    if (values->range.has_at_least)
        property_build(&builder, at_least_name, &values->range.at_least);
    if (values->range.has_below)
        property_build(&builder, below_name, &values->range.below);
    return buf_str(&out);
}

static struct operation_lookup decode(struct str stored, struct arena *arena)
{
    struct operation_lookup out = { .equals = ARENA_ARRAY(arena, struct value, MAX_VALUES) };
    struct property property;

    while (property_next(&stored, &property)) {
        if (str_equal(property.name, at_least_name)) {
            out.range.has_at_least = true;
            out.range.at_least = property.value;
        } else if (str_equal(property.name, below_name)) {
            out.range.has_below = true;
            out.range.below = property.value;
        } else if (out.equal_count < MAX_VALUES) {
            out.equals[out.equal_count++] = property.value;
        }
    }
    return out;
}

enum status verify_scope_plan(const struct index *index, struct str stored, struct arena *arena,
    struct verify_scope *out, struct error *err)
{
    struct operation_lookup values;

    *out = (struct verify_scope){ .is_limited = stored.len > 0 };
    if (!out->is_limited)
        return STATUS_OK;
    values = decode(stored, arena);
    return lookup_plan(index, &values, arena, &out->range, err);
}

bool verify_scope_holds(const struct verify_scope *scope, const struct entity_key *entry)
{
    return !scope->is_limited || lookup_range_holds(&scope->range, entry);
}

struct entity_key verify_scope_begin(const struct verify_scope *scope)
{
    struct entity_key begin = { STR_EMPTY, STR_EMPTY };
    const struct key_filter *first = scope->range.keys;

    if (!scope->is_limited || scope->range.count == 0 || !first->partition.has_low)
        return begin;
    begin.partition = first->partition.low;
    if (interval_is_point(&first->partition) && first->row.has_low)
        begin.row = first->row.low;
    return begin;
}

static bool is_beyond(const struct interval *interval, struct str text)
{
    return interval->has_high && str_compare(text, interval->high) > 0;
}

bool verify_scope_has_passed(const struct verify_scope *scope, const struct entity_key *entry)
{
    const struct key_filter *last;

    if (!scope->is_limited)
        return false;
    if (scope->range.count == 0)
        return true;
    last = &scope->range.keys[scope->range.count - 1];
    return is_beyond(&last->partition, entry->partition) ||
           (interval_is_point(&last->partition) && str_equal(entry->partition, last->partition.high) &&
               is_beyond(&last->row, entry->row));
}
