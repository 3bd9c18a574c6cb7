/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of http/address_counts.c.
 */
#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>

#include "http/address_counts.h"

static struct http_address ipv4(const char *text)
{
    struct sockaddr_in address = { .sin_family = AF_INET };

    ck_assert_int_eq(inet_pton(AF_INET, text, &address.sin_addr), 1);
    return http_address_of((const struct sockaddr *)&address);
}

static struct http_address ipv6(const char *text)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6 };

    ck_assert_int_eq(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
    return http_address_of((const struct sockaddr *)&address);
}

START_TEST(addresses_are_counted_one_by_one)
{
    static struct address_counts counts;
    struct http_address a = ipv4("10.0.0.1"), b = ipv4("10.0.0.2"), mapped = ipv6("::ffff:10.0.0.1");
    struct http_address near = ipv6("2001:db8::1"), same = ipv6("2001:db8::2"), far = ipv6("2001:db8:0:1::1");

    ck_assert_int_eq(address_counts_add(&counts, &a), 1);
    ck_assert_int_eq(address_counts_add(&counts, &b), 1);
    ck_assert_int_eq(address_counts_add(&counts, &mapped), 2);
    ck_assert_int_eq(address_counts_add(&counts, &near), 1);
    ck_assert_int_eq(address_counts_add(&counts, &same), 2);
    ck_assert_int_eq(address_counts_add(&counts, &far), 1);
    ck_assert_int_eq(address_counts_remove(&counts, &a), 1);
    ck_assert_int_eq(address_counts_remove(&counts, &mapped), 0);
    ck_assert_int_eq(address_counts_add(&counts, &a), 1);
    for (int i = 0; i < 2; i++)
        (void)address_counts_remove(&counts, &near);
    (void)address_counts_remove(&counts, &a);
    (void)address_counts_remove(&counts, &b);
    (void)address_counts_remove(&counts, &far);
}
END_TEST

START_TEST(unix_sockets_are_not_counted)
{
    static struct address_counts counts;
    const struct sockaddr address = { .sa_family = AF_UNIX };
    struct http_address peer = http_address_of(&address);

    ck_assert_int_eq(address_counts_add(&counts, &peer), 0);
    ck_assert_int_eq(address_counts_remove(&counts, &peer), 0);
}
END_TEST

Suite *test_address_counts_suite(void)
{
    Suite *suite = suite_create("http_address_counts");
    TCase *tc = tcase_create("http_address_counts");

    tcase_add_test(tc, addresses_are_counted_one_by_one);
    tcase_add_test(tc, unix_sockets_are_not_counted);
    suite_add_tcase(suite, tc);
    return suite;
}
