/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/account_id.c.
 */
#include "domain/account_id.h"

#include <check.h>

#include "base/macros.h"

static const struct name_case {
    const char *id, *name;
} name_cases[] = { { "acme#17", "acme" }, { "acme", "acme" }, { "default", "default" }, { "", "" } };

START_TEST(an_id_has_its_name_in_it)
{
    const struct name_case *c = &name_cases[_i];

    ck_assert(str_equal(account_id_name(str_of(c->id)), str_of(c->name)));
}
END_TEST

Suite *test_account_id_suite(void)
{
    Suite *suite = suite_create("account_id");
    TCase *tc = tcase_create("account_id");

    tcase_add_loop_test(tc, an_id_has_its_name_in_it, 0, ARRAY_LEN(name_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
