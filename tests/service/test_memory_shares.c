/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/admission/memory_shares.c.
 */
#include <check.h>

#include "service/admission/memory_shares.h"

enum { BOUND = 4000, SHARE = 1000 };

static struct memory_shares shares;

static void setup(void)
{
    memory_shares_init(&shares, BOUND);
}

static void teardown(void)
{
    memory_shares_cleanup(&shares);
}

static const char *hold(const char *account, struct memory_hold *memory, int64_t bytes)
{
    struct error err;

    return memory_shares_hold(&shares, str_of(account), memory, bytes, &err) == STATUS_OK ? "OK" : err.reason;
}

START_TEST(a_call_holds_more_and_less_and_at_last_nothing)
{
    struct memory_hold memory = { 0 };

    ck_assert_str_eq(hold("a", &memory, 300), "OK");
    ck_assert_str_eq(hold("a", &memory, 900), "OK");
    ck_assert_int_eq(shares.shares.held, 900);
    ck_assert_str_eq(hold("a", &memory, 200), "OK");
    ck_assert_int_eq(shares.shares.held, 200);
    memory_shares_release(&shares, &memory);
    memory_shares_release(&shares, &memory);
    ck_assert_int_eq(shares.shares.held, 0);
}
END_TEST

START_TEST(an_account_has_its_share_and_others_have_theirs)
{
    struct memory_hold first = { 0 }, second = { 0 }, other = { 0 };

    ck_assert_str_eq(hold("a", &first, SHARE - 100), "OK");
    ck_assert_str_eq(hold("a", &second, 101), "SERVER_BUSY");
    ck_assert_int_eq(second.bytes, 0);
    ck_assert_str_eq(hold("a", &first, SHARE + 1), "SERVER_BUSY");
    ck_assert_int_eq(first.bytes, SHARE - 100);
    ck_assert_str_eq(hold("b", &other, 500), "OK");
    ck_assert_int_eq(atomic_load(&shares.refused), 2);
    memory_shares_release(&shares, &first);
    ck_assert_str_eq(hold("a", &second, 101), "OK");
}
END_TEST

Suite *test_memory_shares_suite(void)
{
    Suite *suite = suite_create("memory_shares");
    TCase *tc = tcase_create("memory_shares");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_call_holds_more_and_less_and_at_last_nothing);
    tcase_add_test(tc, an_account_has_its_share_and_others_have_theirs);
    suite_add_tcase(suite, tc);
    return suite;
}
