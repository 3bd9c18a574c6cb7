/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/access/scoped_id.c.
 */
#include "domain/access/scoped_id.h"

#include <check.h>

#include "base/macros.h"
#include "domain/limits.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static const struct mark_case {
    const char *table;
    struct key_range range;
} mark_cases[] = {
    { "people", { 0 } },
    { "peopl", { 0 } },
    { "people", { .has_low = true } },
    { "people", { .has_low = true, .low = { { "a", 1 }, { "", 0 } } } },
    { "people", { .has_low = true, .low = { { "", 0 }, { "a", 1 } } } },
    { "people", { .has_high = true, .high = { { "a", 1 }, { "", 0 } } } },
    { "people", { .has_high = true, .high_has_row = true, .high = { { "a", 1 }, { "", 0 } } } },
    { "people", { .has_low = true, .low = { { "a", 1 }, { "b", 1 } } } },
    { "people", { .has_low = true, .low = { { "ab", 2 }, { "", 0 } } } },
};

START_TEST(every_table_and_range_has_a_mark_of_its_own)
{
    for (size_t i = 0; i < ARRAY_LEN(mark_cases); i++)
        for (size_t k = 0; k < ARRAY_LEN(mark_cases); k++) {
            struct str a = scoped_id_mark(str_of(mark_cases[i].table), &mark_cases[i].range, &arena);
            struct str b = scoped_id_mark(str_of(mark_cases[k].table), &mark_cases[k].range, &arena);

            ck_assert_uint_eq(a.len, LIMIT_ID_SCOPE_BYTES);
            ck_assert_int_eq(str_equal(a, b), i == k);
        }
}
END_TEST

/* Stored ids end with it. */
START_TEST(marks_stay_what_they_are)
{
    struct str mark = scoped_id_mark(STR_LITERAL("people"), &mark_cases[7].range, &arena);

    ck_assert_str_eq(mark.data, "~fdf5e9eb369c9038");
}
END_TEST

START_TEST(a_marked_id_is_marked_once)
{
    struct str mark = scoped_id_mark(STR_LITERAL("people"), &mark_cases[0].range, &arena);
    struct str once = scoped_id_make(STR_LITERAL("pay"), mark, &arena);

    ck_assert_uint_eq(once.len, 3 + mark.len);
    ck_assert(str_equal(scoped_id_make(once, mark, &arena), once));
    ck_assert_uint_eq(scoped_id_make(mark, mark, &arena).len, 2 * mark.len);
}
END_TEST

Suite *test_scoped_id_suite(void)
{
    Suite *suite = suite_create("scoped_id");
    TCase *tc = tcase_create("scoped_id");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, every_table_and_range_has_a_mark_of_its_own);
    tcase_add_test(tc, marks_stay_what_they_are);
    tcase_add_test(tc, a_marked_id_is_marked_once);
    suite_add_tcase(suite, tc);
    return suite;
}
