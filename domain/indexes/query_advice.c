/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_advice.c - see the header.
 */
#include "domain/indexes/query_advice.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "domain/filter/access_path.h"
#include "domain/filter/filter_tree.h"
#include "domain/indexes/query_lookup.h"
#include "domain/limits.h"

enum {
    MAX_TYPE_SENTENCES = 4,
    MAX_NUMBER_BYTES = 40, /* of a text that is looked at as a number */
    DATE_BYTES = 10,       /* 2026-01-31 */
    MAX_SUGGESTIONS = LIMIT_INDEXES_PER_TABLE + MAX_TYPE_SENTENCES + 8,
};

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

/* ---- types of literals ---- */

static bool reads_as_number(struct str text)
{
    char copy[MAX_NUMBER_BYTES + 1], *end;

    if (text.len == 0 || text.len > MAX_NUMBER_BYTES || !strchr("-.0123456789", text.data[0]))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    (void)strtod(copy, &end);
    return end == copy + text.len;
}

static bool reads_as_date(struct str text)
{
    for (size_t i = 0; i < DATE_BYTES && i < text.len; i++)
        if (i == 4 || i == 7 ? text.data[i] != '-' : !digits_is_decimal(text.data[i]))
            return false;
    return text.len >= DATE_BYTES;
}

/* What the caller may have meant by a text; NULL: the text. */
static const char *other_type_of(struct str text)
{
    if (reads_as_number(text))
        return "a number is written without quotes";
    if (reads_as_date(text))
        return "a time is written datetime'2026-01-31T12:00:00Z'";
    if (str_equal(text, STR_LITERAL("true")) || str_equal(text, STR_LITERAL("false")))
        return "a Boolean is written without quotes";
    return NULL;
}

/* Why the literal of a comparison probably has another type than the stored values; NULL: nothing says so. */
static const char *doubt_type(const struct test *test, struct arena *arena)
{
    const struct value *literal = &test->literal;
    const char *other = literal->type == PROPERTY_STRING ? other_type_of(literal->bytes) : NULL;

    if (test->subject == SUBJECT_PARTITION_KEY || test->subject == SUBJECT_ROW_KEY)
        return literal->type == PROPERTY_STRING ? NULL
                                                : "keys are text, and text is written in single quotes";
    if (test->subject == SUBJECT_TIMESTAMP)
        return literal->type == PROPERTY_DATETIME
                   ? NULL
                   : "Timestamp is a DateTime, and a time is written datetime'2026-01-31T12:00:00Z'";
    if (other)
        return arena_format(arena, "the literal is text; %s", other).data;
    if (literal->type == PROPERTY_DOUBLE && literal->number >= -1e15 && literal->number <= 1e15 &&
        literal->number == (double)(int64_t)literal->number)
        return "the literal is a Double, which no stored integer equals; without the decimal point it finds "
               "integers and doubles";
    return NULL;
}

/*
 * A filter with a literal of another type is valid, and finds something else than the caller expects. The command line
 * knows the sentence by its end (client/nothing_found.c).
 */
static void doubt_types(struct advice *advice)
{
    size_t said = 0;

    for (size_t i = 0; advice->filter && i < advice->filter->test_count && said < MAX_TYPE_SENTENCES; i++) {
        const struct test *test = &advice->filter->tests[i];
        const char *doubt = test->kind == TEST_COMPARE ? doubt_type(test, advice->arena) : NULL;

        if (!doubt)
            continue;
        said++;
        add_sentence(advice, arena_format(advice->arena,
                                 "%.*s: %s. A value of another type than the literal counts as less than it",
                                 STR_ARG(test->clause->source), doubt));
    }
}

void query_advice_make(const struct filter *filter, const struct key_plan *plan, const struct table *table,
    struct arena *arena, struct str **out, size_t *count)
{
    enum access_path path = access_path_of(plan);
    struct advice advice = { filter, plan, table, arena, ARENA_ARRAY(arena, struct str, MAX_SUGGESTIONS), 0 };

    doubt_types(&advice);
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
