/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/indexes/index_shape.c. What the functions of the rows do is tested by test_index_plan.c.
 */
#include "domain/indexes/index_shape.h"

#include <check.h>

START_TEST(each_shape_has_a_whole_row)
{
    const struct index_shape_rules *rules = index_shape_rules((enum index_shape)_i);

    ck_assert(index_shape_is_known(_i));
    ck_assert_ptr_nonnull(rules->name);
    ck_assert_ptr_nonnull(rules->select_records);
}
END_TEST

START_TEST(other_numbers_are_no_shape)
{
    ck_assert(!index_shape_is_known(0));
    ck_assert(!index_shape_is_known(INDEX_SHAPE_END));
    ck_assert(!index_shape_is_known(-1));
    ck_assert(!index_shape_is_known((int64_t)UINT32_MAX + INDEX_COPY + 1));
}
END_TEST

START_TEST(the_names_are_listed)
{
    struct arena arena;

    arena_init(&arena);
    ck_assert_str_eq(index_shape_names(&arena), "COPY or LIST");
    arena_cleanup(&arena);
}
END_TEST

Suite *test_index_shape_suite(void)
{
    Suite *suite = suite_create("index_shape");
    TCase *tc = tcase_create("index_shape");

    tcase_add_loop_test(tc, each_shape_has_a_whole_row, 1, INDEX_SHAPE_END);
    tcase_add_test(tc, other_numbers_are_no_shape);
    tcase_add_test(tc, the_names_are_listed);
    suite_add_tcase(suite, tc);
    return suite;
}
