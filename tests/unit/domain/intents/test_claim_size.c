/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_claim_size.c - how many messages a consumer claims next, and what work is expected to cost.
 */
#include "domain/intents/claim_size.h"

#include <check.h>

#include "domain/intents/intent.h"

enum { MAX = 512 };

static const struct row {
    size_t size, taken;
    int64_t elapsed_us;
    size_t want;
} rows[] = {
    { MAX, MAX, 4000, MAX },
    { MAX, MAX, 19000, MAX },
    { MAX, MAX, 40000, MAX / 4 },
    { MAX, 10, 80000, 1 },
    { MAX, 100, 100000, 10 },
    { MAX, 1, 60000000, 1 },
    { 100, 100, 4900, 200 },
    { 100, 99, 4900, 100 },
    { 100, 100, 5100, 100 },
    { 100, 100, 0, 200 },
    { 1, 1, 15000, 1 },
    { 1, 1, 4000, 2 },
    { MAX, 4 * MAX, 1000, MAX },
};

START_TEST(a_claim_is_some_milliseconds_long)
{
    ck_assert_uint_eq(
        claim_size_next(rows[_i].size, rows[_i].taken, rows[_i].elapsed_us, MAX), rows[_i].want);
}
END_TEST

START_TEST(a_claim_is_no_larger_than_allowed)
{
    ck_assert_uint_eq(claim_size_next(1, 1, 60000000, 1), 1);
    ck_assert_uint_eq(claim_size_next(1, 1, 0, 1), 1);
}
END_TEST

/* Whatever the work costs, the claims of a consumer that has enough of it last about as long as they should. */
START_TEST(the_size_settles)
{
    for (int64_t each_us = 1; each_us < 5000; each_us = each_us * 3 / 2 + 1) {
        size_t size = MAX;

        for (int i = 0; i < 20; i++)
            size = claim_size_next(size, size, (int64_t)size * each_us, MAX);
        ck_assert_int_le((int64_t)size * each_us, 2 * CLAIM_TARGET_US);
        if (size < MAX)
            ck_assert_int_ge((int64_t)size * each_us, CLAIM_TARGET_US / 2);
    }
}
END_TEST

static const struct cost {
    enum intent_kind kind;
    int64_t spent_us, cost, debt;
} costs[] = {
    { INTENT_RECONCILE, 0, 1, 0 },
    { INTENT_COPY, 0, 1, 0 },
    { INTENT_TRANSACTION, 0, 25, 0 },
    { INTENT_VISIT, 0, 25, 0 },
    { INTENT_TRANSACTION, 100, 25, 0 },
    { INTENT_TRANSACTION, -5000, 25, 0 },
    { INTENT_TRANSACTION, 5000, 25, 225 },
    { INTENT_TRANSACTION, 20000, 25, 975 },
    { INTENT_TRANSACTION, INT64_MAX, 25, 975 },
};

START_TEST(work_that_goes_on_owes_what_it_has_cost)
{
    struct intent intent = { .kind = (int16_t)costs[_i].kind, .spent_us = costs[_i].spent_us };

    ck_assert_int_eq(intent_cost(&intent), costs[_i].cost);
    ck_assert_int_eq(intent_debt(&intent), costs[_i].debt);
}
END_TEST

Suite *test_claim_size_suite(void);
Suite *test_claim_size_suite(void)
{
    Suite *suite = suite_create("claim_size");
    TCase *tc = tcase_create("sizes");

    tcase_add_loop_test(tc, a_claim_is_some_milliseconds_long, 0, ARRAY_LEN(rows));
    tcase_add_test(tc, a_claim_is_no_larger_than_allowed);
    tcase_add_test(tc, the_size_settles);
    tcase_add_loop_test(tc, work_that_goes_on_owes_what_it_has_cost, 0, ARRAY_LEN(costs));
    suite_add_tcase(suite, tc);
    return suite;
}
