/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/fair_shares.c.
 */
#include "base/fair_shares.h"
#include "base/macros.h"

#include <check.h>
#include <stdlib.h>

enum { PLACES = 120, STEPS = 100000 };

static struct fair_shares shares;

static void setup(void)
{
    fair_shares_init(&shares, PLACES);
}

/* Slots 0 to n - 1 take 1 in turn until none of them gets more. */
static void fill(int n)
{
    bool any = true;

    while (any) {
        any = false;
        for (int slot = 0; slot < n; slot++)
            any |= fair_shares_take(&shares, slot, 1);
    }
}

static const struct crowd_case {
    int accounts, share;
} crowd_cases[] = { { 1, 120 }, { 2, 80 }, { 3, 60 }, { 5, 40 }, { 11, 20 }, { 239, 1 } };

START_TEST(all_that_want_as_much_as_they_can_get_hold_the_same)
{
    const struct crowd_case *c = &crowd_cases[_i];

    fill(c->accounts);
    for (int slot = 0; slot < c->accounts; slot++)
        ck_assert_int_eq(shares.slots[slot], c->share);
}
END_TEST

START_TEST(an_account_that_comes_late_finds_room)
{
    fill(1);
    ck_assert(!fair_shares_take(&shares, 0, 1));
    for (int i = 0; i < PLACES / 2; i++)
        ck_assert(fair_shares_take(&shares, 1, 1));
    ck_assert(!fair_shares_take(&shares, 1, 1));
    ck_assert(fair_shares_take(&shares, 2, 1));
}
END_TEST

START_TEST(several_places_are_taken_together_or_not_at_all)
{
    ck_assert(fair_shares_take(&shares, 0, PLACES - 1));
    ck_assert(!fair_shares_take(&shares, 0, 2));
    ck_assert_int_eq(shares.slots[0], PLACES - 1);
    ck_assert_int_eq(shares.held, PLACES - 1);
    fair_shares_give_back(&shares, 0, 1);
    ck_assert(fair_shares_take(&shares, 0, 2));
}
END_TEST

START_TEST(one_place_is_enough_for_one_account)
{
    fair_shares_init(&shares, 1);
    ck_assert(fair_shares_take(&shares, 7, 1));
    ck_assert(!fair_shares_take(&shares, 7, 1));
    ck_assert(!fair_shares_take(&shares, 8, 1));
    fair_shares_give_back(&shares, 7, 1);
    ck_assert(fair_shares_take(&shares, 8, 1));
}
END_TEST

/*
 * After any additions and releases the sums are right, and no account that holds less than another is refused while
 * that one gets more.
 */
START_TEST(at_random_an_account_that_holds_less_has_no_smaller_share)
{
    srand(1);
    for (int i = 0; i < STEPS; i++) {
        int slot = rand() % 8, other = rand() % 8;
        int64_t held = 0;

        if (rand() % 2 && shares.slots[slot] > 0) {
            fair_shares_give_back(&shares, slot, 1 + rand() % shares.slots[slot]);
        } else if (!fair_shares_take(&shares, slot, 1)) {
            if (shares.slots[other] >= shares.slots[slot])
                ck_assert(!fair_shares_take(&shares, other, 1));
        }
        for (int k = 0; k < 8; k++)
            held += shares.slots[k];
        ck_assert_int_eq(held, shares.held);
        ck_assert_int_lt(held, 2 * PLACES);
    }
}
END_TEST

START_TEST(an_account_keeps_its_slot_and_names_are_spread_differently_by_each_process)
{
    struct fair_shares other;
    int same = 0;

    fair_shares_init(&other, PLACES);
    for (char name = 'a'; name <= 'z'; name++) {
        struct str account = str_of_bytes(&name, 1);

        ck_assert_int_eq(fair_shares_slot(&shares, account), fair_shares_slot(&shares, account));
        same += fair_shares_slot(&shares, account) == fair_shares_slot(&other, account);
    }
    ck_assert_int_lt(same, 5);
}
END_TEST

Suite *test_fair_shares_suite(void)
{
    Suite *suite = suite_create("fair_shares");
    TCase *tc = tcase_create("fair_shares");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(tc, all_that_want_as_much_as_they_can_get_hold_the_same, 0, ARRAY_LEN(crowd_cases));
    tcase_add_test(tc, an_account_that_comes_late_finds_room);
    tcase_add_test(tc, several_places_are_taken_together_or_not_at_all);
    tcase_add_test(tc, one_place_is_enough_for_one_account);
    tcase_add_test(tc, at_random_an_account_that_holds_less_has_no_smaller_share);
    tcase_add_test(tc, an_account_keeps_its_slot_and_names_are_spread_differently_by_each_process);
    suite_add_tcase(suite, tc);
    return suite;
}
