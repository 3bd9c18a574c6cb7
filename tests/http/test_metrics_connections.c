/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of http/metrics_connections.c, with a clock of their own.
 */
#include "http/metrics_connections.h"

#include <check.h>

static struct metrics_connections connections;

static void setup(void)
{
    connections = (struct metrics_connections){ 0 };
}

/* Connection fd begins at that many microseconds. */
static int begin(int fd, uint8_t address, int64_t begun_us)
{
    struct metrics_connection added = { .fd = fd, .address.bytes = { address }, .begun_us = begun_us };

    return metrics_connections_add(&connections, &added);
}

START_TEST(an_address_with_its_share_loses_its_oldest_connection)
{
    ck_assert_int_eq(begin(1, 7, 0), METRICS_NO_CONNECTION);
    for (int fd = 100; fd < 100 + METRICS_CONNECTIONS_PER_ADDRESS; fd++)
        ck_assert_int_eq(begin(fd, 9, fd), METRICS_NO_CONNECTION);
    for (int fd = 200; fd < 300; fd++)
        ck_assert_int_eq(begin(fd, 9, fd),
            fd - 200 < METRICS_CONNECTIONS_PER_ADDRESS ? fd - 100 : fd - METRICS_CONNECTIONS_PER_ADDRESS);
    ck_assert_int_eq(connections.open[0].fd, 1);
}
END_TEST

START_TEST(without_a_place_left_the_busiest_address_makes_room)
{
    ck_assert_int_eq(begin(1, 1, 0), METRICS_NO_CONNECTION);
    for (int i = 0; i < METRICS_CONNECTIONS - 1; i++)
        ck_assert_int_eq(begin(100 + i, (uint8_t)(2 + i / 5), 1), METRICS_NO_CONNECTION);
    ck_assert_int_eq(begin(2, 1, 2), 100);
    ck_assert_int_eq(begin(3, 50, 3), 105);
    ck_assert_uint_eq(connections.count, METRICS_CONNECTIONS);
}
END_TEST

START_TEST(what_has_ended_makes_room)
{
    for (int fd = 0; fd < METRICS_CONNECTIONS_PER_ADDRESS; fd++)
        ck_assert_int_eq(begin(fd, 1, fd), METRICS_NO_CONNECTION);
    metrics_connections_remove(&connections, 3);
    metrics_connections_remove(&connections, 77); /* closed before */
    ck_assert_int_eq(begin(50, 1, 50), METRICS_NO_CONNECTION);
    ck_assert_int_eq(begin(51, 1, 51), 0);
}
END_TEST

START_TEST(every_connection_has_a_deadline)
{
    ck_assert_int_eq(metrics_connections_next_us(&connections, 0), -1);
    ck_assert_int_eq(metrics_connections_overdue(&connections, INT64_MAX), METRICS_NO_CONNECTION);
    begin(1, 1, 1000);
    begin(2, 1, 3000);
    ck_assert_int_eq(metrics_connections_next_us(&connections, 1500), METRICS_DEADLINE_US - 500);
    ck_assert_int_eq(
        metrics_connections_overdue(&connections, METRICS_DEADLINE_US + 999), METRICS_NO_CONNECTION);
    ck_assert_int_eq(metrics_connections_overdue(&connections, METRICS_DEADLINE_US + 1000), 1);
    ck_assert_int_eq(
        metrics_connections_overdue(&connections, METRICS_DEADLINE_US + 1000), METRICS_NO_CONNECTION);
    ck_assert_int_eq(metrics_connections_next_us(&connections, METRICS_DEADLINE_US + 1000), 2000);
}
END_TEST

Suite *test_metrics_connections_suite(void)
{
    Suite *suite = suite_create("metrics_connections");
    TCase *tc = tcase_create("metrics_connections");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, an_address_with_its_share_loses_its_oldest_connection);
    tcase_add_test(tc, without_a_place_left_the_busiest_address_makes_room);
    tcase_add_test(tc, what_has_ended_makes_room);
    tcase_add_test(tc, every_connection_has_a_deadline);
    suite_add_tcase(suite, tc);
    return suite;
}
