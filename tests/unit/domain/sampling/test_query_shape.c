/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/sampling/query_shape.c and shape_sketch.c.
 */
#include "domain/sampling/query_shape.h"

#include <check.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/macros.h"
#include "domain/filter/filter.h"
#include "domain/sampling/shape_sketch.h"

static struct arena arena;
static struct shape_sketch sketch;

static void setup(void)
{
    arena_init(&arena);
    sketch = (struct shape_sketch){ 0 };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static const struct shape_case {
    const char *filter, *want;
} shape_cases[] = {
    { "", "" },
    { "State eq 'open'", "=State" },
    { "State eq 'secret' and State eq 'other'", "=State" },
    { "Age gt 3 and Age lt 9 and State eq 'a'", "<Age =State" },
    { "startswith(Name, 'x')", "<Name" },
    { "PartitionKey eq 'p' and RowKey ge 'r'", "<RowKey =PartitionKey" },
    { "Timestamp gt datetime'2026-11-22T00:00:00Z'", "<Timestamp" },
    { "State eq 'a' or Age eq 1", "?Age ?State" },
    { "State ne 'a' and contains(Name, 'b') and exists(Note) and Flag", "?Flag ?Name ?Note ?State" },
    { "not (State eq 'a')", "?State" },
};

START_TEST(a_shape_has_properties_and_no_values)
{
    const struct shape_case *c = &shape_cases[_i];
    const struct filter *filter;
    struct error err;
    struct str shape;

    ck_assert_msg(filter_compile(str_of(c->filter), &arena, &filter, &err) == STATUS_OK, "%s", err.message);
    shape = query_shape_of(filter, &arena);
    ck_assert_msg(str_equal(shape, str_of(c->want)), "%s: %.*s", c->filter, STR_ARG(shape));
}
END_TEST

START_TEST(a_shape_that_is_too_long_is_none)
{
    const struct filter *filter;
    struct error err;
    struct buf text;

    buf_init(&text, &arena);
    for (int i = 0; i < 10; i++)
        buf_format(&text, "%sName%050d eq 1", i > 0 ? " and " : "", i);
    ck_assert_int_eq(filter_compile(buf_str(&text), &arena, &filter, &err), STATUS_OK);
    ck_assert_uint_eq(query_shape_of(filter, &arena).len, 0);
}
END_TEST

START_TEST(its_tokens_are_read_again)
{
    struct shape_token *tokens;
    size_t count;

    ck_assert(query_shape_read(STR_LITERAL("<Age =State"), &arena, &tokens, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(tokens[0].use, SHAPE_RANGE);
    ck_assert(str_equal(tokens[1].name, STR_LITERAL("State")));
    ck_assert(!query_shape_read(STR_LITERAL("State"), &arena, &tokens, &count));
    ck_assert(!query_shape_read(STR_LITERAL("= =A"), &arena, &tokens, &count));
    ck_assert(!query_shape_read(STR_EMPTY, &arena, &tokens, &count));
}
END_TEST

static void note(int shape, int64_t examined)
{
    char text[16];

    snprintf(text, sizeof(text), "=P%d", shape);
    shape_sketch_note(&sketch, str_of(text), examined, 1);
}

START_TEST(the_shapes_that_examine_most_stay)
{
    for (int i = 0; i < 1000; i++) {
        note(0, 1000);
        note(1, 800);
        note(2 + i, 5);
    }
    ck_assert_int_eq(sketch.queries, 3000);
    ck_assert_uint_eq(sketch.shape_count, SKETCH_SHAPES);
    ck_assert(str_equal(shape_sketch_text(&sketch.shapes[0]), STR_LITERAL("=P0")));
    ck_assert_int_eq(sketch.shapes[0].examined, 1000 * 1000);
    ck_assert_int_eq(sketch.shapes[1].queries, 1000);
}
END_TEST

START_TEST(what_a_counter_may_miss_is_its_error)
{
    int64_t exact = 0;

    for (int i = 0; i < 400; i++) {
        note(1000 + i, 5);
        if (i % 60 == 39) {
            note(7, 5);
            exact += 5;
        }
    }
    for (size_t i = 0; i < sketch.shape_count; i++)
        if (str_equal(shape_sketch_text(&sketch.shapes[i]), STR_LITERAL("=P7"))) {
            ck_assert_int_lt(sketch.shapes[i].examined, exact); /* it has had its counter taken */
            ck_assert_int_ge(sketch.shapes[i].examined + sketch.shapes[i].error, exact);
            return;
        }
    ck_abort_msg("the shape that came last has no counter");
}
END_TEST

START_TEST(the_stored_form_says_the_same)
{
    struct shape_sketch again;
    struct str bytes;

    note(1, 10);
    note(2, 20);
    shape_sketch_note(&sketch, STR_EMPTY, 5, 5);
    shape_sketch_note_index(&sketch, 70, 3);
    sketch.writes = 9;
    bytes = shape_sketch_write(&sketch, &arena);
    ck_assert(shape_sketch_read(bytes, &arena, &again));
    ck_assert_int_eq(again.queries, 3);
    ck_assert_int_eq(again.writes, 9);
    ck_assert_int_eq(shape_sketch_reads_of(&again, 70), 3);
    ck_assert_int_eq(shape_sketch_reads_of(&again, 71), 0);
    shape_sketch_merge(&again, &sketch);
    ck_assert_uint_eq(again.shape_count, 2);
    ck_assert_int_eq(again.shapes[1].examined, 40);
    ck_assert_int_eq(shape_sketch_reads_of(&again, 70), 6);
    ck_assert(!shape_sketch_read(STR_LITERAL("\xff\xff"), &arena, &again));
}
END_TEST

START_TEST(more_indexes_than_fit_replace_the_least_read)
{
    for (int i = 1; i <= SKETCH_INDEXES; i++)
        shape_sketch_note_index(&sketch, i, 10 + i);
    shape_sketch_note_index(&sketch, 99, 1);

    ck_assert_int_eq(shape_sketch_reads_of(&sketch, 1), 0);
    ck_assert_int_eq(shape_sketch_reads_of(&sketch, 99), 1);
}
END_TEST

Suite *test_query_shape_suite(void)
{
    Suite *suite = suite_create("query_shape");
    TCase *tc = tcase_create("query_shape");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_shape_has_properties_and_no_values, 0, ARRAY_LEN(shape_cases));
    tcase_add_test(tc, a_shape_that_is_too_long_is_none);
    tcase_add_test(tc, its_tokens_are_read_again);
    tcase_add_test(tc, the_shapes_that_examine_most_stay);
    tcase_add_test(tc, what_a_counter_may_miss_is_its_error);
    tcase_add_test(tc, the_stored_form_says_the_same);
    tcase_add_test(tc, more_indexes_than_fit_replace_the_least_read);
    suite_add_tcase(suite, tc);
    return suite;
}
