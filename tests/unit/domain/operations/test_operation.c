/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/operations/operation.c.
 */
#include "domain/operations/operation.h"

#include <check.h>

START_TEST(a_failed_operation_keeps_its_own_copy_of_the_error)
{
    struct arena arena;
    struct operation operation = { .kind = OPERATION_GET, .arena = &arena };
    struct error err = { 0 };

    arena_init(&arena);
    error_set(&err, STATUS_STALE, "first");
    error_add_meta(&err, "table", STR_LITERAL("Orders"));

    operation_fail(&operation, &err);
    error_set(&err, STATUS_INTERNAL, "second");

    ck_assert_int_eq(operation.status, STATUS_STALE);
    ck_assert_int_eq(operation.error->status, STATUS_STALE);
    ck_assert_str_eq(operation.error->message, "first");
    ck_assert_str_eq(operation.error->meta[0].value, "Orders");
    arena_cleanup(&arena);
}
END_TEST

Suite *test_operation_suite(void)
{
    Suite *suite = suite_create("operation");
    TCase *tc = tcase_create("operation");

    tcase_add_test(tc, a_failed_operation_keeps_its_own_copy_of_the_error);
    suite_add_tcase(suite, tc);
    return suite;
}
