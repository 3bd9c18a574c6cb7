/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_lookup.c - see the header.
 *
 * A range gets its upper end only beside a lower end: `lt` also matches values of types that the look-up
 * does not read, and a lower end excludes these. A part that is compared without case gets none: its order
 * is another one than that of the filter.
 */
#include "domain/indexes/query_lookup.h"

#include "domain/filter/filter_tree.h"
#include "domain/indexes/index_plan.h"
#include "domain/reason.h"

static bool is_about(const struct test *test, struct str name)
{
    switch (test->subject) {
    case SUBJECT_PARTITION_KEY:
        return str_equal(name, STR_LITERAL("PartitionKey"));
    case SUBJECT_ROW_KEY:
        return str_equal(name, STR_LITERAL("RowKey"));
    case SUBJECT_TIMESTAMP:
        return false;
    case SUBJECT_PROPERTY:
        break;
    }
    return str_equal(test->name, name);
}

/* The operand of a comparison that every match passes; NULL: there is no such comparison. */
static const struct value *find_operand(const struct filter *filter, struct str name, unsigned accepts)
{
    for (size_t i = 0; filter && i < filter->test_count; i++) {
        const struct test *test = &filter->tests[i];

        if (test->required && test->kind == TEST_COMPARE && test->accepts == accepts && is_about(test, name))
            return &test->literal;
    }
    return NULL;
}

bool query_lookup_binds(const struct filter *filter, struct str property)
{
    return find_operand(filter, property, ACCEPT_EQ) != NULL;
}

/* The first property of the key that the filter does not bind; NULL: it binds all. */
static const struct key_part *find_unbound(const struct filter *filter, const struct key_parts *key)
{
    for (size_t i = 0; i < key->count; i++)
        if (!key->parts[i].is_literal && !query_lookup_binds(filter, key->parts[i].text))
            return &key->parts[i];
    return NULL;
}

static bool has_property(const struct key_parts *key)
{
    for (size_t i = 0; i < key->count; i++)
        if (!key->parts[i].is_literal)
            return true;
    return false;
}

static bool same_value(const struct value *a, const struct value *b)
{
    return a->type == b->type && a->integer == b->integer && str_equal(a->bytes, b->bytes) &&
           (a->type != PROPERTY_DOUBLE || a->number == b->number);
}

/* Whether each match of the filter passes this test of another filter. */
static bool requires(const struct filter *filter, const struct test *other)
{
    for (size_t i = 0; filter && i < filter->test_count; i++) {
        const struct test *test = &filter->tests[i];

        if (test->required && test->kind == other->kind && test->subject == other->subject &&
            test->accepts == other->accepts && str_equal(test->name, other->name) &&
            same_value(&test->literal, &other->literal))
            return true;
    }
    return false;
}

/*
 * Whether an index has an entry for each match of the filter. Recognised only if each test of the index's
 * own filter is also a test of the query's filter.
 */
static bool holds_all(const struct index *index, const struct filter *filter)
{
    const struct filter *own = index->filter;

    for (size_t i = 0; own && i < own->test_count; i++)
        if (!own->tests[i].required || !requires(filter, &own->tests[i]))
            return false;
    return true;
}

bool query_lookup_is_answered(const struct filter *filter, const struct index *index)
{
    return has_property(&index->partition_key) && !find_unbound(filter, &index->partition_key) &&
           holds_all(index, filter);
}

/* ---- the plan ---- */

static bool bind(const struct filter *filter, const struct key_part *part, struct operation_lookup *out)
{
    const struct value *operand = part->is_literal ? NULL : find_operand(filter, part->text, ACCEPT_EQ);

    if (!operand)
        return part->is_literal;
    out->equals[out->equal_count++] = *operand;
    return true;
}

static void bound_next(const struct filter *filter, struct str name, struct value_range *out)
{
    const struct value *low = find_operand(filter, name, ACCEPT_GE);
    const struct value *high = find_operand(filter, name, ACCEPT_LT);

    if (!low)
        low = find_operand(filter, name, ACCEPT_GT);
    if (!low)
        return;
    out->has_at_least = true;
    out->at_least = *low;
    if (!high || high->type != low->type)
        return;
    out->has_below = true;
    out->below = *high;
}

enum status query_lookup_plan(const struct filter *filter, const struct index *index, struct arena *arena,
    struct operation_lookup *out, struct error *err)
{
    const struct key_part *unbound = find_unbound(filter, &index->partition_key);
    struct index_row_parts row = index_row_parts(index);
    size_t next = 0;

    if (unbound)
        return reason_set(err, REASON_INVALID_INPUT,
            "the index %.*s answers filters that have %.*s eq a value as an operand of their outermost and",
            STR_ARG(index->name), STR_ARG(unbound->text));
    if (!holds_all(index, filter))
        return reason_set(err, REASON_INVALID_INPUT,
            "the index %.*s has entries only of entities that match %.*s: each of its comparisons must be an "
            "operand of the "
            "filter's outermost and",
            STR_ARG(index->name), STR_ARG(index->filter_text));
    out->equals = ARENA_ARRAY(arena, struct value, index->partition_key.count + row.count);
    for (size_t i = 0; i < index->partition_key.count; i++)
        (void)bind(filter, &index->partition_key.parts[i], out);
    while (next < row.count && bind(filter, row.parts[next], out))
        next++;
    if (next < row.count && !row.parts[next]->fold_case)
        bound_next(filter, row.parts[next]->text, &out->range);
    return STATUS_OK;
}
