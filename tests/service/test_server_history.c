/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/probes/server_history.c: which samples there are, and in which order.
 */
#include "service/probes/server_history.h"

#include <check.h>
#include <stdlib.h>

#include "rpc/server.h"
#include "service/methods.h"

static struct service service;
static struct server_history history;
static struct metrics_sources sources;

static void begin(void)
{
    service = (struct service){ .door_count = 0 };
    service.calls = metrics_calls_new(&service);
    sources = (struct metrics_sources){ .service = &service };
    server_history_init(&history);
}

static void end(void)
{
    server_history_cleanup(&history);
    counters_free(service.calls);
}

enum { SECOND_US = 1000000 };

START_TEST(a_sample_covers_an_interval)
{
    struct server_history_sample samples[SERVER_HISTORY_SAMPLES];

    server_history_tick(&history, &sources, 1);
    ck_assert_uint_eq(server_history_read(&history, samples), 0);
    counters_add(service.calls, 0, 3); /* OK */
    counters_add(service.calls, 5, 2); /* NOT_FOUND */
    server_history_tick(&history, &sources, 9 * SECOND_US);
    ck_assert_uint_eq(server_history_read(&history, samples), 0);
    server_history_tick(&history, &sources, 10 * SECOND_US + 1);
    ck_assert_uint_eq(server_history_read(&history, samples), 1);
    ck_assert_uint_eq(samples[0].calls, 5);
    ck_assert_uint_eq(samples[0].failed, 2);
    ck_assert_int_eq(samples[0].covered_us, 10 * SECOND_US);
    ck_assert_int_eq(samples[0].median_us, SERVER_HISTORY_NO_CALLS);
    ck_assert_int_gt(samples[0].memory_bytes, 1000000);
    server_history_tick(&history, &sources, 20 * SECOND_US + 1);
    ck_assert_uint_eq(server_history_read(&history, samples), 2);
    ck_assert_uint_eq(samples[1].calls, 0);
}
END_TEST

START_TEST(the_oldest_samples_make_room)
{
    struct server_history_sample samples[SERVER_HISTORY_SAMPLES];

    for (int64_t i = 0; i < SERVER_HISTORY_SAMPLES + 10; i++) {
        server_history_tick(&history, &sources, 1 + i * 10 * SECOND_US);
        counters_add(service.calls, 0, (uint64_t)i); /* in the interval with this number */
    }
    ck_assert_uint_eq(server_history_read(&history, samples), SERVER_HISTORY_SAMPLES);
    for (uint64_t i = 0; i < SERVER_HISTORY_SAMPLES; i++)
        ck_assert_uint_eq(samples[i].calls, i + 9);
}
END_TEST

/* The server that a sample would be read from is freed while the monitor of the database goes on. */
START_TEST(no_sample_is_taken_after_the_end)
{
    struct server_history_sample samples[SERVER_HISTORY_SAMPLES];

    server_history_tick(&history, &sources, 1);
    ck_assert(server_history_tick(&history, &sources, 10 * SECOND_US + 1));
    server_history_end(&history);

    ck_assert(!server_history_tick(&history, &sources, 20 * SECOND_US + 1));
    ck_assert_uint_eq(server_history_read(&history, samples), 1);
}
END_TEST

START_TEST(the_backlog_belongs_to_the_newest_sample)
{
    struct server_history_sample samples[SERVER_HISTORY_SAMPLES];

    server_history_set_backlog(&history, &(struct outcome_backlog){ 1, 1 }); /* there is no sample yet */
    ck_assert(!server_history_tick(&history, &sources, 1));
    ck_assert(server_history_tick(&history, &sources, 10 * SECOND_US + 1));
    ck_assert(!server_history_tick(&history, &sources, 11 * SECOND_US));
    ck_assert(server_history_tick(&history, &sources, 20 * SECOND_US + 1));
    server_history_set_backlog(&history, &(struct outcome_backlog){ .lag_us = 7, .dead_letters = 0 });

    ck_assert_uint_eq(server_history_read(&history, samples), 2);
    ck_assert_int_eq(samples[0].lag_us, SERVER_HISTORY_NOT_READ);
    ck_assert_int_eq(samples[0].dead_letters, SERVER_HISTORY_NOT_READ);
    ck_assert_int_eq(samples[1].lag_us, 7);
    ck_assert_int_eq(samples[1].dead_letters, 0);
}
END_TEST

Suite *test_server_history_suite(void)
{
    Suite *suite = suite_create("server_history");
    TCase *tc = tcase_create("server_history");

    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, a_sample_covers_an_interval);
    tcase_add_test(tc, the_oldest_samples_make_room);
    tcase_add_test(tc, no_sample_is_taken_after_the_end);
    tcase_add_test(tc, the_backlog_belongs_to_the_newest_sample);
    suite_add_tcase(suite, tc);
    return suite;
}
