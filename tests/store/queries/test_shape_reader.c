/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of store/queries/shape_reader.c: the reader of each shape. They need no database. */
#include "store/queries/shape_reader.h"

#include <check.h>

#include "domain/indexes/index_shape.h"

START_TEST(a_shape_has_a_reader_unless_its_entries_are_entities)
{
    const struct index index = { .shape = (enum index_shape)_i };
    const struct table table = { .entries_of = &index };
    const struct shape_reader *reader = shape_reader_find(&table);

    if (index_shape_rules(index.shape)->entries_are_entities) {
        ck_assert_ptr_null(reader);
        return;
    }
    ck_assert_ptr_nonnull(reader);
    ck_assert_ptr_nonnull(reader->get);
    ck_assert_ptr_nonnull(reader->page);
}
END_TEST

START_TEST(a_table_of_callers_has_no_reader)
{
    const struct table table = { .table_id = 1 };

    ck_assert_ptr_null(shape_reader_find(&table));
}
END_TEST

Suite *test_shape_reader_suite(void)
{
    Suite *suite = suite_create("shape_reader");
    TCase *tc = tcase_create("shape_reader");

    tcase_add_loop_test(tc, a_shape_has_a_reader_unless_its_entries_are_entities, 1, INDEX_SHAPE_END);
    tcase_add_test(tc, a_table_of_callers_has_no_reader);
    suite_add_tcase(suite, tc);
    return suite;
}
