/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/token_bucket.h.
 */
#include "base/token_bucket.h"

#include <check.h>

enum { BURST = 10, COST = 1, NOW = 100 };

static int draw_all(struct token_bucket *bucket, int64_t now)
{
    int drawn = 0;

    while (drawn < 10 * BURST && token_bucket_draw(bucket, now, BURST, COST))
        drawn++;
    return drawn;
}

START_TEST(a_bucket_has_its_burst_and_fills_with_time)
{
    struct token_bucket bucket = { 0 };

    ck_assert_int_eq(draw_all(&bucket, NOW), BURST);
    ck_assert_int_eq(draw_all(&bucket, NOW), 0);
    ck_assert_int_eq(draw_all(&bucket, NOW + 3), 3);
    ck_assert_int_eq(draw_all(&bucket, NOW + 1000), BURST);
}
END_TEST

START_TEST(a_debt_is_paid_off_first)
{
    struct token_bucket bucket = { 0 };

    ck_assert(token_bucket_draw(&bucket, NOW, BURST, 3 * BURST));
    ck_assert_int_eq(draw_all(&bucket, NOW + 2 * BURST), 0);
    ck_assert_int_eq(draw_all(&bucket, NOW + 2 * BURST + 1), 1);
    token_bucket_overdraw(&bucket, NOW + 3 * BURST, BURST);
    ck_assert_int_eq(draw_all(&bucket, NOW + 3 * BURST), 0);
    ck_assert_int_eq(draw_all(&bucket, NOW + 5 * BURST), BURST);
}
END_TEST

Suite *test_token_bucket_suite(void)
{
    Suite *suite = suite_create("token_bucket");
    TCase *tc = tcase_create("token_bucket");

    tcase_add_test(tc, a_bucket_has_its_burst_and_fills_with_time);
    tcase_add_test(tc, a_debt_is_paid_off_first);
    suite_add_tcase(suite, tc);
    return suite;
}
