/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_advice.c - see the header.
 */
#include "domain/indexes/query_advice.h"

#include <assert.h>

#include "domain/filter/access_path.h"
#include "domain/filter/filter_tree.h"
#include "domain/indexes/query_lookup.h"
#include "domain/limits.h"

enum { MAX_SUGGESTIONS = LIMIT_INDEXES_PER_TABLE + 8 };

struct advice {
    const struct filter *filter;
    const struct key_plan *plan;
    const struct table *table;
    struct arena *arena;
    struct str *out;
    size_t count;
};

static void add_sentence(struct advice *advice, struct str text)
{
    assert(advice->count < MAX_SUGGESTIONS);
    advice->out[advice->count++] = text;
}

/* ---- indexes ---- */

/* What LookupIndex compares: the values, or the values without regard to case. */
static const char *found_by(const struct key_parts *key)
{
    for (size_t i = 0; i < key->count; i++)
        if (key->parts[i].fold_case)
            return "these properties, without case";
    return "these properties";
}

/* Suggest the indexes that find by the properties of the filter. true: there is one, perhaps still being built. */
static bool suggest_indexes(struct advice *advice)
{
    bool any = false;

    for (size_t i = 0; i < advice->table->index_count; i++) {
        const struct index *index = advice->table->indexes[i];

        if (index->replaces != 0 || !query_lookup_is_answered(advice->filter, index))
            continue;
        any = true;
        add_sentence(advice, arena_format(advice->arena,
                                 index->state == INDEX_READY
                                     ? "LookupIndex in the index %.*s finds entities by %s"
                                     : "once the index %.*s is ready, LookupIndex in it finds entities by %s",
                                 STR_ARG(index->name), found_by(&index->partition_key)));
    }
    return any;
}

static void suggest_new_index(struct advice *advice)
{
    for (size_t i = 0; i < advice->filter->test_count; i++) {
        struct str name = advice->filter->tests[i].name;

        if (advice->filter->tests[i].subject != SUBJECT_PROPERTY || !query_lookup_binds(advice->filter, name))
            continue;
        add_sentence(advice, arena_format(advice->arena,
                                 "create an index whose partition key is the property %.*s (CreateIndex), "
                                 "and find entities by it "
                                 "(LookupIndex)",
                                 STR_ARG(name)));
        return;
    }
}

/* ---- rewrites ---- */

static bool has_test(const struct filter *filter, bool of_keys, enum test_kind kind)
{
    for (size_t i = 0; i < filter->test_count; i++) {
        const struct test *test = &filter->tests[i];

        if (test->kind == kind &&
            (test->subject == SUBJECT_PARTITION_KEY || test->subject == SUBJECT_ROW_KEY) == of_keys)
            return true;
    }
    return false;
}

static void suggest_for_table(struct advice *advice)
{
    const struct interval *row = &advice->plan->range.row;

    if (row->has_low || row->has_high)
        add_sentence(advice,
            STR_LITERAL("bind the partition as well (PartitionKey eq '...'): RowKey narrows what is read "
                        "within one partition only"));
    else if (advice->filter->root->kind == CLAUSE_OR)
        add_sentence(advice,
            STR_LITERAL("bind PartitionKey and RowKey by eq in every operand of the `or`, which is then "
                        "read key by key, or ask once per operand"));
    else
        add_sentence(advice, STR_LITERAL("bind the partition (PartitionKey eq '...'), if it is known"));
}

static void suggest_rewrites(struct advice *advice, enum access_path path)
{
    if (path == ACCESS_TABLE_SCAN)
        suggest_for_table(advice);
    else
        add_sentence(
            advice, STR_LITERAL("bound RowKey within the partition (RowKey ge '...' and RowKey lt '...', or "
                                "startswith(RowKey, '...')), if its range is known"));
    if (has_test(advice->filter, true, TEST_CONTAINS) || has_test(advice->filter, true, TEST_ENDS_WITH))
        add_sentence(advice,
            STR_LITERAL("contains and endswith of a key are tested on every row: only startswith is a "
                        "range"));
}

void query_advice_make(const struct filter *filter, const struct key_plan *plan, const struct table *table,
    struct arena *arena, struct str **out, size_t *count)
{
    enum access_path path = access_path_of(plan);
    struct advice advice = { filter, plan, table, arena, ARENA_ARRAY(arena, struct str, MAX_SUGGESTIONS), 0 };

    if (plan->range.nothing) {
        add_sentence(&advice, STR_LITERAL("the filter contradicts itself: no entity can match"));
    } else if (!filter) {
        add_sentence(&advice,
            STR_LITERAL("the query asks for the whole table: ScanEntities streams it, and can be resumed"));
    } else if (path > ACCESS_INDEX_LOOKUP) {
        if (!suggest_indexes(&advice))
            suggest_new_index(&advice);
        suggest_rewrites(&advice, path);
    }
    *out = advice.out;
    *count = advice.count;
}
