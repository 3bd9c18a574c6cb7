/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_shape.c - see the header.
 */
#include "domain/sampling/query_shape.h"

#include <stdlib.h>

#include "base/buf.h"
#include "domain/filter/filter_tree.h"

static bool is_range(const struct test *test)
{
    return test->kind == TEST_STARTS_WITH ||
           (test->kind == TEST_COMPARE && test->accepts != ACCEPT_EQ && test->accepts != ACCEPT_NE);
}

static enum shape_use use_of(const struct test *test)
{
    if (!test->required)
        return SHAPE_OTHER;
    if (test->kind == TEST_COMPARE && test->accepts == ACCEPT_EQ)
        return SHAPE_EQUAL;
    return is_range(test) ? SHAPE_RANGE : SHAPE_OTHER;
}

static struct str name_of(const struct test *test)
{
    static const struct str names[] = { [SUBJECT_PARTITION_KEY] = STR_LITERAL("PartitionKey"),
        [SUBJECT_ROW_KEY] = STR_LITERAL("RowKey"),
        [SUBJECT_TIMESTAMP] = STR_LITERAL("Timestamp") };

    return test->subject == SUBJECT_PROPERTY ? test->name : names[test->subject];
}

static int compare(const void *a, const void *b)
{
    const struct shape_token *one = a, *other = b;

    return one->use != other->use ? (int)one->use - (int)other->use : str_compare(one->name, other->name);
}

struct str query_shape_of(const struct filter *filter, struct arena *arena)
{
    struct shape_token *tokens;
    struct buf out;

    if (!filter)
        return STR_EMPTY;
    tokens = ARENA_ARRAY(arena, struct shape_token, filter->test_count);
    for (size_t i = 0; i < filter->test_count; i++)
        tokens[i] = (struct shape_token){ use_of(&filter->tests[i]), name_of(&filter->tests[i]) };
    qsort(tokens, filter->test_count, sizeof(*tokens), compare);
    buf_init(&out, arena);
    for (size_t i = 0; i < filter->test_count; i++)
        if (i == 0 || compare(&tokens[i - 1], &tokens[i]) != 0)
            buf_format(&out, "%s%c%.*s", i > 0 ? " " : "", (char)tokens[i].use, STR_ARG(tokens[i].name));
    return out.len <= MAX_SHAPE_BYTES ? buf_str(&out) : STR_EMPTY;
}

static size_t find_space(struct str text)
{
    size_t at = 0;

    while (at < text.len && text.data[at] != ' ')
        at++;
    return at;
}

bool query_shape_read(struct str text, struct arena *arena, struct shape_token **out, size_t *count)
{
    *out = ARENA_ARRAY(arena, struct shape_token, text.len);
    *count = 0;
    while (text.len > 0) {
        size_t end = find_space(text);

        if (end < 2 ||
            (text.data[0] != SHAPE_EQUAL && text.data[0] != SHAPE_RANGE && text.data[0] != SHAPE_OTHER))
            return false;
        (*out)[(*count)++] = (struct shape_token){ (enum shape_use)text.data[0], { text.data + 1, end - 1 } };
        text = str_from(text, end + 1);
    }
    return *count > 0;
}
