/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_chunk.c - how large the chunks of an import are, alone and beside others. */
#include "domain/writes/import_chunk.h"

#include <check.h>

#include "base/macros.h"
#include "domain/limits.h"

static const struct {
    size_t left;
    bool beside_others;
    size_t size;
} cases[] = {
    { 0, false, 0 },
    { 0, true, 0 },
    { 1, true, 1 },
    { 1000, false, 1000 },
    { 1000, true, 112 },
    { 888, true, 111 },
    { 202, true, 101 },
    { 201, true, 201 },
    { 101, true, 101 },
    { 100, true, 100 },
};

START_TEST(a_chunk_has_so_many)
{
    ck_assert_uint_eq(import_chunk_entities(cases[_i].left, cases[_i].beside_others), cases[_i].size);
}
END_TEST

START_TEST(every_chunk_of_a_large_message_is_larger_than_a_batch)
{
    for (size_t left = LIMIT_BATCH_OPERATIONS + 1; left <= IMPORT_ANSWER_ENTITIES; left++)
        for (size_t rest = left; rest > 0; rest -= import_chunk_entities(rest, true)) {
            ck_assert_uint_gt(import_chunk_entities(rest, true), LIMIT_BATCH_OPERATIONS);
            ck_assert_uint_le(import_chunk_entities(rest, true), rest);
        }
}
END_TEST

Suite *test_import_chunk_suite(void)
{
    Suite *suite = suite_create("import_chunk");
    TCase *tc = tcase_create("import_chunk");

    tcase_add_loop_test(tc, a_chunk_has_so_many, 0, ARRAY_LEN(cases));
    tcase_add_test(tc, every_chunk_of_a_large_message_is_larger_than_a_batch);
    suite_add_tcase(suite, tc);
    return suite;
}
