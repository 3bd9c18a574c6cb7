/* SPDX-License-Identifier: Apache-2.0 */
/* test_query_lookup.c - which filters an index answers, and by which values. */
#include "domain/indexes/query_lookup.h"

#include <check.h>

static struct arena arena;
static struct operation_lookup lookup;
static struct error err;

static struct key_part city = { .text = STR_LITERAL("City") };
static struct key_part rest[] = {
    { .is_literal = true, .text = STR_LITERAL("x") },
    { .text = STR_LITERAL("Age") },
    { .text = STR_LITERAL("Name") },
};
static struct index by_city = {
    .name = STR_LITERAL("ByCity"), .shape = INDEX_COPY, .partition_key = { &city, 1 }, .row_key = { rest, 3 }
};

static void setup(void)
{
    arena_init(&arena);
    by_city.filter = NULL;
    rest[1].fold_case = false;
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static const struct filter *compiled(const char *text)
{
    const struct filter *filter = NULL;

    ck_assert_int_eq(filter_compile(str_of(text), &arena, &filter, &err), STATUS_OK);
    return filter;
}

static enum status plan(const char *text)
{
    const struct filter *filter = compiled(text);
    enum status status;

    lookup = (struct operation_lookup){ 0 };
    status = query_lookup_plan(filter, &by_city, &arena, &lookup, &err);
    ck_assert_int_eq(query_lookup_is_answered(filter, &by_city), status == STATUS_OK);
    return status;
}

START_TEST(equal_values_are_bound_in_the_order_of_the_key)
{
    ck_assert_int_eq(plan("Age eq 5 and Size ne 1 and City eq 'Rome'"), STATUS_OK);
    ck_assert_uint_eq(lookup.equal_count, 2);
    ck_assert(str_equal(lookup.equals[0].bytes, STR_LITERAL("Rome")));
    ck_assert_int_eq(lookup.equals[1].integer, 5);
    ck_assert(!lookup.range.has_at_least && !lookup.range.has_below);
    ck_assert_int_eq(plan("City eq 'Rome' and Name eq 'a'"), STATUS_OK);
    ck_assert_uint_eq(lookup.equal_count, 1);
    ck_assert_int_eq(plan("City eq 'Rome' and Age eq 5 and Name eq 'a' and PartitionKey eq 'p'"), STATUS_OK);
    ck_assert_uint_eq(lookup.equal_count, 4);
}
END_TEST

START_TEST(a_range_bounds_the_next_part)
{
    ck_assert_int_eq(plan("City eq 'Rome' and Age gt 5 and Age lt 9"), STATUS_OK);
    ck_assert(lookup.range.has_at_least && lookup.range.has_below);
    ck_assert_int_eq(lookup.range.at_least.integer, 5);
    ck_assert_int_eq(lookup.range.below.integer, 9);
    ck_assert_int_eq(plan("City eq 'Rome' and Age ge 5 and Age lt 9L"), STATUS_OK);
    ck_assert(lookup.range.has_at_least && !lookup.range.has_below);
}
END_TEST

/* A range here would leave out what the filter matches. */
START_TEST(ranges_that_would_miss_matches_are_not_made)
{
    ck_assert_int_eq(plan("City eq 'Rome' and Age lt 9"), STATUS_OK);
    ck_assert(!lookup.range.has_at_least && !lookup.range.has_below);
    ck_assert_int_eq(plan("City eq 'Rome' and (Age gt 5 or Name eq 'a')"), STATUS_OK);
    ck_assert(!lookup.range.has_at_least);
    rest[1].fold_case = true;
    ck_assert_int_eq(plan("City eq 'Rome' and Age ge 'B'"), STATUS_OK);
    ck_assert(!lookup.range.has_at_least);
}
END_TEST

START_TEST(filters_that_the_index_does_not_answer)
{
    static const char *const texts[] = { "", "Age eq 5", "City ne 'Rome'", "City ge 'Rome'",
        "City eq 'Rome' or Age eq 5", "not (City eq 'Rome')", "PartitionKey eq 'Rome'" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        ck_assert_msg(plan(texts[i]) == STATUS_INVALID, "%s", texts[i]);
    by_city.filter = compiled("Paid and Age ge 1");
    by_city.filter_text = STR_LITERAL("Paid and Age ge 1");
    ck_assert_int_eq(plan("City eq 'Rome' and Paid"), STATUS_INVALID);
    ck_assert_int_eq(plan("City eq 'Rome' and Paid and Age ge 1"), STATUS_OK);
}
END_TEST

Suite *test_query_lookup_suite(void)
{
    Suite *suite = suite_create("query_lookup");
    TCase *tc = tcase_create("query_lookup");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, equal_values_are_bound_in_the_order_of_the_key);
    tcase_add_test(tc, a_range_bounds_the_next_part);
    tcase_add_test(tc, ranges_that_would_miss_matches_are_not_made);
    tcase_add_test(tc, filters_that_the_index_does_not_answer);
    suite_add_tcase(suite, tc);
    return suite;
}
