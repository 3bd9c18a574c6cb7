/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/transactions/effect_shares.c: accounts that share the places for effects by time.
 */
#include "domain/transactions/effect_shares.h"

#include <check.h>
#include <stdio.h>

#include "base/macros.h"

enum { SECOND = 1000000, HANG = 10 * SECOND, BLINK = 10000 };

static struct effect_shares shares;
static int64_t now_us;

static void setup(void)
{
    now_us = 1;
    effect_shares_init(&shares, 2); /* one effect at a time */
}

static bool begins(const char *account)
{
    return effect_shares_begin(&shares, str_of(account), EFFECT_OF_CALLS, now_us);
}

static bool begins_file(const char *account)
{
    return effect_shares_begin(&shares, str_of(account), EFFECT_OF_FILES, now_us);
}

static void ends(const char *account, int64_t after_us)
{
    now_us += after_us;
    effect_shares_end(&shares, str_of(account), EFFECT_OF_CALLS, now_us);
}

static void wants(const char *account)
{
    effect_shares_want(&shares, str_of(account), EFFECT_OF_CALLS, now_us);
}

/* ---- places ---- */

static const struct place_case {
    int consumers, effects, calls;
} place_cases[] = { { 1, 1, 1 }, { 2, 1, 1 }, { 3, 1, 1 }, { 4, 2, 1 }, { 8, 4, 2 }, { 64, 32, 16 } };

START_TEST(half_of_the_consumers_perform_effects_and_a_quarter_calls)
{
    const struct place_case *c = &place_cases[_i];
    int calls = 0, effects;

    effect_shares_init(&shares, c->consumers);
    while (begins("a"))
        calls++;
    ck_assert_int_eq(calls, c->calls);
    for (effects = calls; begins_file("b"); effects++)
        ;
    ck_assert_int_eq(effects, c->effects);
}
END_TEST

START_TEST(an_account_that_is_alone_has_every_place_at_once_again)
{
    for (int i = 0; i < 100; i++) {
        ck_assert(begins("hangs"));
        ck_assert(!begins("hangs"));
        ends("hangs", HANG);
    }
}
END_TEST

/* ---- shares ---- */

START_TEST(an_account_that_waits_comes_before_one_that_has_spent_more)
{
    ck_assert(begins("hangs"));
    ck_assert(!begins("waits"));
    ends("hangs", EFFECT_WANT_US - 1);
    ck_assert(!begins("hangs"));
    ck_assert(begins("waits"));
}
END_TEST

START_TEST(an_account_waits_for_one_call_of_another_however_many_that_has)
{
    ck_assert(begins("hangs"));
    ends("hangs", HANG);
    ck_assert(begins("hangs"));
    ck_assert(!begins("new"));
    ends("hangs", HANG);
    wants("new");
    for (int i = 0; i < 100; i++) {
        ck_assert(!begins("hangs"));
        ck_assert(begins("new"));
        ends("new", BLINK);
    }
}
END_TEST

/* Both accounts ask whenever the place may be free, and again and again while it is not. */
START_TEST(two_accounts_that_always_want_have_half_of_the_time_each)
{
    int64_t spent_us[2] = { 0 };

    for (int i = 0; i < 20000; i++) {
        if (begins("hangs")) {
            ends("hangs", HANG);
            wants("new");
            spent_us[0] += HANG;
        } else {
            ck_assert(begins("new"));
            ends("new", BLINK);
            wants("hangs");
            spent_us[1] += BLINK;
        }
    }
    ck_assert_int_ge(spent_us[0], spent_us[1] - HANG);
    ck_assert_int_le(spent_us[0], spent_us[1] + HANG);
}
END_TEST

START_TEST(a_place_is_not_kept_for_an_account_that_does_not_come)
{
    ck_assert(begins("hangs"));
    ck_assert(!begins("leaves"));
    ends("hangs", 1);
    ck_assert(!begins("hangs"));
    now_us += EFFECT_WANT_US - 1;
    ck_assert(begins("hangs"));
}
END_TEST

START_TEST(the_time_for_which_a_place_is_kept_counts_as_spent)
{
    ck_assert(begins("hangs"));
    ck_assert(!begins("seldom"));
    ends("hangs", 4 * SECOND);
    for (int i = 0; !begins("hangs"); i++) { /* a short effect a second: less than its share */
        ck_assert_int_lt(i, 6);
        if (begins("seldom"))
            ends("seldom", BLINK);
        wants("seldom");
        now_us += SECOND;
    }
}
END_TEST

START_TEST(an_account_cannot_save_time_up)
{
    ck_assert(begins("old"));
    ends("old", BLINK);
    for (int i = 0; i < 100; i++) {
        ck_assert(begins("busy"));
        ends("busy", SECOND);
        now_us += EFFECT_NEXT_US;
    }
    ck_assert(begins("busy"));
    ck_assert(!begins("old"));
    ends("busy", SECOND);
    ck_assert(begins("old"));
    ck_assert(!begins("busy"));
    ends("old", 2 * SECOND); /* it began with what "busy" had spent before its last effect */
    ck_assert(begins("busy"));
}
END_TEST

START_TEST(a_free_place_is_not_kept_for_an_account_that_may_not_have_it)
{
    effect_shares_init(&shares, 4); /* two effects, one of them a call */
    ck_assert(begins_file("files"));
    now_us += HANG;
    effect_shares_end(&shares, STR_LITERAL("files"), EFFECT_OF_FILES, now_us);
    ck_assert(begins("hangs"));
    ck_assert(!begins("waits"));
    ck_assert(begins_file("files"));
}
END_TEST

START_TEST(many_accounts_have_shares)
{
    char name[16];

    for (int i = 0; i < 10 * EFFECT_SHARE_ACCOUNTS; i++) {
        snprintf(name, sizeof(name), "a%d", i);
        ck_assert(begins(name));
        ends(name, BLINK);
        now_us += EFFECT_NEXT_US;
    }
}
END_TEST

Suite *test_effect_shares_suite(void)
{
    Suite *suite = suite_create("effect_shares");
    TCase *tc = tcase_create("effect_shares");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(
        tc, half_of_the_consumers_perform_effects_and_a_quarter_calls, 0, ARRAY_LEN(place_cases));
    tcase_add_test(tc, an_account_that_is_alone_has_every_place_at_once_again);
    tcase_add_test(tc, an_account_that_waits_comes_before_one_that_has_spent_more);
    tcase_add_test(tc, an_account_waits_for_one_call_of_another_however_many_that_has);
    tcase_add_test(tc, two_accounts_that_always_want_have_half_of_the_time_each);
    tcase_add_test(tc, a_place_is_not_kept_for_an_account_that_does_not_come);
    tcase_add_test(tc, the_time_for_which_a_place_is_kept_counts_as_spent);
    tcase_add_test(tc, an_account_cannot_save_time_up);
    tcase_add_test(tc, a_free_place_is_not_kept_for_an_account_that_may_not_have_it);
    tcase_add_test(tc, many_accounts_have_shares);
    suite_add_tcase(suite, tc);
    return suite;
}
