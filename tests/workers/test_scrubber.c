/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scrub's share of the time. In the place of the database's work stands a function that takes as long as the test
 * says.
 */
#include "workers/scrubber.h"

#include <check.h>

#include "base/macros.h"
#include "store/job_work.h"

enum status job_work_scrub(struct worker *store, bool *worked, struct error *err)
{
    (void)store;
    (void)err;
    *worked = false;
    return STATUS_OK;
}

static const struct rest {
    int64_t busy_us, share, rest_ms;
} rests[] = {
    { 20000, 1, 1980 },
    { 20000, 50, 20 },
    { 30000, 10, 270 },
    { 10000000, 1, 990000 },
    { 20000, 100, 1 },
    { 0, 1, 1 },
};

START_TEST(chunks_take_their_share_of_the_time)
{
    ck_assert_int_eq(scrubber_rest_ms(rests[_i].busy_us, rests[_i].share), rests[_i].rest_ms);
}
END_TEST

Suite *test_scrubber_suite(void)
{
    Suite *suite = suite_create("scrubber");
    TCase *tc = tcase_create("scrubber");

    tcase_add_loop_test(tc, chunks_take_their_share_of_the_time, 0, ARRAY_LEN(rests));
    suite_add_tcase(suite, tc);
    return suite;
}
