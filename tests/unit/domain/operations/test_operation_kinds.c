/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/operations/operation_kinds.c: every kind has a row, and the row agrees with itself. That every kind
 * has a route in the store is held by tests/store/test_routes.c.
 */
#include "domain/operations/operation_kinds.h"

#include <check.h>

#include "domain/operations/operation.h"

START_TEST(every_kind_has_a_row)
{
    const struct operation_facts *facts = operation_kind_facts((enum operation_kind)_i);

    ck_assert_msg(facts->name, "kind %d has no row", _i);
    ck_assert_msg(facts->scope != OPERATION_SCOPE_NONE, "%s has no scope", facts->name);
}
END_TEST

START_TEST(no_two_kinds_have_the_same_name)
{
    const char *name = operation_kind_facts((enum operation_kind)_i)->name;

    for (int kind = 0; kind < _i; kind++)
        ck_assert_str_ne(operation_kind_facts((enum operation_kind)kind)->name, name);
}
END_TEST

START_TEST(a_kind_that_waits_becomes_a_kind_that_runs)
{
    const struct operation_facts *facts = operation_kind_facts((enum operation_kind)_i), *after;

    if (facts->wait == OPERATION_WAIT_NONE)
        return;
    after = operation_kind_facts(facts->becomes);
    ck_assert_msg(
        facts->becomes == (enum operation_kind)_i || after->wait == OPERATION_WAIT_NONE, "%s", facts->name);
    ck_assert_msg(after->input == facts->input, "%s has another input than %s", after->name, facts->name);
    ck_assert_msg(after->scope == facts->scope, "%s has another scope than %s", after->name, facts->name);
    ck_assert_msg(facts->only_reads && after->only_reads, "%s", facts->name);
}
END_TEST

START_TEST(what_an_operation_waits_for_depends_on_its_kind_and_its_input)
{
    struct operation job = { .kind = OPERATION_JOB_WAIT };
    struct operation get = { .kind = OPERATION_GET };
    struct operation lookup = { .kind = OPERATION_LOOKUP };

    ck_assert_int_eq(operation_waits_for(&job), OPERATION_WAIT_JOB);
    ck_assert_int_eq(operation_waits_for(&get), OPERATION_WAIT_NONE);
    ck_assert_int_eq(operation_waits_for(&lookup), OPERATION_WAIT_NONE);

    get.wait_for_transaction = STR_LITERAL("t-1");
    lookup.in.lookup.freshness.has_max_staleness = true;

    ck_assert_int_eq(operation_waits_for(&get), OPERATION_WAIT_TRANSACTION);
    ck_assert_int_eq(operation_waits_for(&lookup), OPERATION_WAIT_FRESHNESS);
}
END_TEST

Suite *test_operation_kinds_suite(void)
{
    Suite *suite = suite_create("operation_kinds");
    TCase *tc = tcase_create("operation_kinds");

    tcase_add_loop_test(tc, every_kind_has_a_row, 0, OPERATION_KIND_COUNT);
    tcase_add_loop_test(tc, no_two_kinds_have_the_same_name, 0, OPERATION_KIND_COUNT);
    tcase_add_loop_test(tc, a_kind_that_waits_becomes_a_kind_that_runs, 0, OPERATION_KIND_COUNT);
    tcase_add_test(tc, what_an_operation_waits_for_depends_on_its_kind_and_its_input);
    suite_add_tcase(suite, tc);
    return suite;
}
