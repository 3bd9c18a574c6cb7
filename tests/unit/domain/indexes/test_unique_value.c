/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/indexes/unique_value.h"

#include <check.h>
#include <math.h>

#include "base/macros.h"
#include "domain/filter/filter.h"
#include "domain/indexes/index_plan.h"

static struct arena arena;
static struct key_part people = { .is_literal = true, .text = { "people", 6 } };
static struct key_part by_age[] = { { .text = { "Age", 3 } } };
static struct key_part both[] = { { .text = { "Age", 3 } }, { .text = { "Name", 4 } } };
static const struct entity_key one = { { "p", 1 }, { "r1", 2 } }, other = { { "q", 1 }, { "r2", 2 } };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct index an_index(struct key_part *row, size_t count)
{
    return (struct index){ .index_id = 70,
        .source_table_id = 5,
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .is_unique = true,
        .partition_key = { &people, 1 },
        .row_key = { row, count } };
}

/* name NULL: there is none. */
static struct row_state a_state(struct value age, const char *name)
{
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };
    struct value text = { .type = PROPERTY_STRING, .bytes = str_of(name ? name : "") };

    buf_init(&out, &arena);
    if (age.type != PROPERTY_NULL)
        property_build(&builder, STR_LITERAL("Age"), &age);
    if (name)
        property_build(&builder, STR_LITERAL("Name"), &text);
    return (struct row_state){ .live = true, .version = 1, .ts = 1, .properties = { buf_str(&out) } };
}

#define INT32(n)                                                                                             \
    {                                                                                                        \
        .type = PROPERTY_INT32, .integer = (n)                                                               \
    }
#define INT64(n)                                                                                             \
    {                                                                                                        \
        .type = PROPERTY_INT64, .integer = (n)                                                               \
    }
#define DOUBLE(n)                                                                                            \
    {                                                                                                        \
        .type = PROPERTY_DOUBLE, .number = (n)                                                               \
    }
#define TEXT(s)                                                                                              \
    {                                                                                                        \
        .type = PROPERTY_STRING, .bytes = {(s), sizeof(s) - 1 }                                              \
    }
#define BINARY(s)                                                                                            \
    {                                                                                                        \
        .type = PROPERTY_BINARY, .bytes = {(s), sizeof(s) - 1 }                                              \
    }
#define BOOLEAN(n)                                                                                           \
    {                                                                                                        \
        .type = PROPERTY_BOOLEAN, .integer = (n)                                                             \
    }

static const struct pair_case {
    struct value first, second;
    bool are_equal;
} pair_cases[] = {
    { INT32(5), INT64(5), true },
    { INT32(5), DOUBLE(5.0), true },
    { INT64(-7), DOUBLE(-7.0), true },
    { DOUBLE(0.0), DOUBLE(-0.0), true },
    { INT32(0), DOUBLE(-0.0), true },
    { DOUBLE(0.5), DOUBLE(0.5), true },
    { INT32(5), INT32(6), false },
    { DOUBLE(5.5), INT32(5), false },
    { INT64(INT64_MAX), DOUBLE(9223372036854775808.0), false },
    { INT64(9007199254740993), DOUBLE(9007199254740992.0), false },
    { INT64(INT64_MIN), DOUBLE(-9223372036854775808.0), true },
    { DOUBLE(INFINITY), DOUBLE(-INFINITY), false },
    { TEXT("5"), INT32(5), false },
    { TEXT("a"), TEXT("A"), false },
    { TEXT("a"), BINARY("a"), false },
    { BOOLEAN(1), INT32(1), false },
};

START_TEST(values_are_one_where_filters_equate_them)
{
    const struct pair_case *c = &pair_cases[_i];
    struct index index = an_index(by_age, 1);
    struct row_state first = a_state(c->first, NULL), second = a_state(c->second, NULL);
    struct unique_value a, b;

    ck_assert(unique_value_of(&index, &one, &first, &arena, &a));
    ck_assert(unique_value_of(&index, &other, &second, &arena, &b));

    ck_assert_int_eq(unique_value_compare(&a, &b) == 0, c->are_equal);
}
END_TEST

START_TEST(text_is_one_value_without_case_where_that_is_declared)
{
    struct key_part without_case[] = { { .text = { "Age", 3 } },
        { .text = { "Name", 4 }, .fold_case = true } };
    struct index index = an_index(without_case, 2), exact = an_index(both, 2);
    struct row_state upper = a_state((struct value)TEXT("x"), "ADA"),
                     lower = a_state((struct value)TEXT("x"), "Ada"),
                     other_age = a_state((struct value)TEXT("X"), "ada");
    struct unique_value first, second, third, fourth, fifth;

    ck_assert(unique_value_of(&index, &one, &upper, &arena, &first));
    ck_assert(unique_value_of(&index, &other, &lower, &arena, &second));
    ck_assert(unique_value_of(&index, &other, &other_age, &arena, &third));
    ck_assert(unique_value_of(&exact, &one, &upper, &arena, &fourth));
    ck_assert(unique_value_of(&exact, &other, &lower, &arena, &fifth));

    ck_assert_int_eq(unique_value_compare(&first, &second), 0);
    ck_assert_int_ne(unique_value_compare(&first, &third), 0);
    ck_assert_int_ne(unique_value_compare(&fourth, &fifth), 0);
}
END_TEST

/* The boundary between two values is part of the encoding. */
START_TEST(all_parts_make_the_value)
{
    struct index index = an_index(both, 2);
    struct row_state ab = a_state((struct value)TEXT("a"), "bc"),
                     abc = a_state((struct value)TEXT("ab"), "c");
    struct unique_value first, second, third;

    ck_assert(unique_value_of(&index, &one, &ab, &arena, &first));
    ck_assert(unique_value_of(&index, &one, &abc, &arena, &second));
    ck_assert(unique_value_of(&index, &other, &ab, &arena, &third));

    ck_assert_int_ne(unique_value_compare(&first, &second), 0);
    ck_assert_int_eq(unique_value_compare(&first, &third), 0);
    ck_assert(str_equal(unique_value_properties(&index, &arena), STR_LITERAL("Age, Name")));
}
END_TEST

START_TEST(an_entity_without_an_entry_asks_for_nothing)
{
    struct key_part number = { .text = { "Age", 3 }, .width = 3 };
    struct index index = an_index(by_age, 1), numbers = an_index(&number, 1);
    struct row_state missing = a_state((struct value){ .type = PROPERTY_NULL }, "x"),
                     text = a_state((struct value)TEXT("x"), NULL), dead = text;
    struct unique_value value;

    dead.live = false;
    ck_assert(!unique_value_of(&index, &one, &missing, &arena, &value));
    ck_assert(!unique_value_of(&index, &one, &dead, &arena, &value));
    ck_assert(!unique_value_of(&numbers, &one, &text, &arena, &value));
    ck_assert(unique_value_of(&index, &one, &text, &arena, &value));
}
END_TEST

/* Owners are stored under this encoding. */
START_TEST(the_form_stays_as_it_is)
{
    static const unsigned char begins[] = { 0xd3, 0xce, 0x34, 0xca };
    struct index index = an_index(by_age, 1);
    struct row_state five = a_state((struct value)INT32(5), NULL);
    struct unique_value value;

    ck_assert(unique_value_of(&index, &one, &five, &arena, &value));
    ck_assert_mem_eq(value.bytes, begins, sizeof(begins));
}
END_TEST

START_TEST(what_the_filter_does_not_match_owns_nothing)
{
    struct index index = an_index(by_age, 1);
    struct row_state state = a_state((struct value)INT32(5), "Ann");
    struct unique_value value;
    struct error err = { 0 };

    ck_assert_int_eq(filter_compile(STR_LITERAL("Name eq 'Ann'"), &arena, &index.filter, &err), STATUS_OK);
    ck_assert(unique_value_of(&index, &one, &state, &arena, &value));
    ck_assert_int_eq(filter_compile(STR_LITERAL("Name eq 'Bob'"), &arena, &index.filter, &err), STATUS_OK);
    ck_assert(!unique_value_of(&index, &one, &state, &arena, &value));
}
END_TEST

Suite *test_unique_value_suite(void)
{
    Suite *suite = suite_create("unique_value");
    TCase *tc = tcase_create("unique_value");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, values_are_one_where_filters_equate_them, 0, ARRAY_LEN(pair_cases));
    tcase_add_test(tc, what_the_filter_does_not_match_owns_nothing);
    tcase_add_test(tc, text_is_one_value_without_case_where_that_is_declared);
    tcase_add_test(tc, all_parts_make_the_value);
    tcase_add_test(tc, an_entity_without_an_entry_asks_for_nothing);
    tcase_add_test(tc, the_form_stays_as_it_is);
    suite_add_tcase(suite, tc);
    return suite;
}
