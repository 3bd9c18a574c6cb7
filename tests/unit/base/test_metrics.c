/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/metrics.c.
 */
#include "base/metrics.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

#include "base/macros.h"

enum { THREADS = 12, ROUNDS = 2000 };

static void *raise_both(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        counters_add(argument, 0, 1);
        counters_add(argument, 1, 2);
    }
    return NULL;
}

START_TEST(what_many_threads_count_adds_up)
{
    struct counters *counters = counters_new(2);
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, raise_both, counters), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    ck_assert_uint_eq(counters_read(counters, 0), THREADS * ROUNDS);
    ck_assert_uint_eq(counters_read(counters, 1), 2 * THREADS * ROUNDS);
    counters_free(counters);
}
END_TEST

START_TEST(durations_are_a_cumulative_histogram_in_seconds)
{
    static const char *const lines[] = { "d_bucket{m=\"x\",le=\"0.00025\"} 1\n",
        "d_bucket{m=\"x\",le=\"0.0005\"} 2\n", "d_bucket{m=\"x\",le=\"10\"} 2\n",
        "d_bucket{m=\"x\",le=\"+Inf\"} 3\n", "d_sum{m=\"x\"} 20.000501\n", "d_count{m=\"x\"} 3\n" };
    struct counters *counters = counters_new(METRICS_SLOTS);
    struct buf out;

    metrics_observe_us(counters, 0, 250);
    metrics_observe_us(counters, 0, 251);
    metrics_observe_us(counters, 0, 20000000);
    buf_init(&out, NULL);
    metrics_durations(&out, "d", "m=\"x\"", counters, 0);
    buf_append_byte(&out, '\0');

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        ck_assert_msg(strstr(out.data, lines[i]) != NULL, "%s lacks %s", out.data, lines[i]);
    buf_cleanup(&out);
    counters_free(counters);
}
END_TEST

/* bounds: 250, 500, 1000, ... us */
static const struct quantile_case {
    uint64_t counts[METRICS_BOUNDS + 1];
    double share;
    int64_t want;
} quantile_cases[] = {
    { { 0 }, 0.5, -1 },
    { { 100 }, 0.5, 125 },
    { { 100 }, 0.99, 247 },
    { { 0, 100 }, 0.5, 375 },
    { { 50, 50 }, 0.5, 250 },
    { { 50, 50 }, 0.75, 375 },
    { { 98, 0, 2 }, 0.99, 750 },
    { { [METRICS_BOUNDS] = 7 }, 0.5, 10000000 },
};

START_TEST(a_quantile_is_estimated_within_its_slot)
{
    const struct quantile_case *c = &quantile_cases[_i];

    ck_assert_int_eq(metrics_quantile_us(c->counts, c->share), c->want);
}
END_TEST

Suite *test_metrics_suite(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tc = tcase_create("metrics");

    tcase_add_test(tc, what_many_threads_count_adds_up);
    tcase_add_test(tc, durations_are_a_cumulative_histogram_in_seconds);
    tcase_add_loop_test(tc, a_quantile_is_estimated_within_its_slot, 0, ARRAY_LEN(quantile_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
