/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of rpc/door_table.c: an address from a socket equals the same address from the core; which connection is
 * found, and which costs most.
 */
#include "rpc/door_table.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

static struct door_table *table;

static void setup(void)
{
    table = calloc(1, sizeof(*table));
}

static void teardown(void)
{
    free(table);
}

static struct door_address peer(const char *text)
{
    struct door_address out;

    ck_assert_msg(door_address_of_peer(str_of(text), &out), "%s", text);
    return out;
}

static struct door_connection *add(
    struct door_connection *connection, const char *text, bool is_authenticated)
{
    *connection = (struct door_connection){ .address = peer(text), .is_authenticated = is_authenticated };
    door_table_add(table, connection);
    return connection;
}

static struct door_address of_socket(int family, const char *host, uint16_t port)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    struct door_address out;

    ck_assert_int_eq(inet_pton(family, host, family == AF_INET ? (void *)&v4.sin_addr : &v6.sin6_addr), 1);
    door_address_read(family == AF_INET ? (void *)&v4 : (void *)&v6, &out);
    return out;
}

static const struct address_case {
    int family;
    const char *host, *peer;
} address_cases[] = {
    { AF_INET, "192.0.2.7", "ipv4:192.0.2.7:5000" },
    { AF_INET6, "::ffff:192.0.2.7", "ipv4:192.0.2.7:5000" },
    { AF_INET6, "2001:db8::7", "ipv6:[2001:db8::7]:5000" },
    { AF_INET6, "2001:db8::7", "ipv6:%5B2001:db8::7%5D:5000" },
    { AF_INET6, "fe80::1", "ipv6:%5Bfe80::1%252%5D:5000" },
};

START_TEST(peers_are_the_addresses_of_their_sockets)
{
    const struct address_case *c = &address_cases[_i];
    struct door_address seen = of_socket(c->family, c->host, 5000), named = peer(c->peer);

    ck_assert_int_eq(memcmp(seen.bytes, named.bytes, sizeof(seen.bytes)), 0);
    ck_assert_uint_eq(seen.port, named.port);
    ck_assert(door_address_equal(&seen, &named));
}
END_TEST

START_TEST(what_is_no_peer_is_not_found)
{
    const char *texts[] = { "", "unix:", "unix:/run/x", "ipv4:", "ipv4:1.2.3.4",
        "ipv4:1.2.3.4:", "ipv4:1.2.3.4:70000", "ipv4:1.2.3:1", "ipv6:[::1]", "ipv4:1.2.3.4:x" };
    struct door_address out;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        ck_assert_msg(!door_address_of_peer(str_of(texts[i]), &out), "%s", texts[i]);
}
END_TEST

START_TEST(a_host_is_an_address_or_a_network)
{
    struct door_address a = peer("ipv4:10.0.0.1:1"), b = peer("ipv4:10.0.0.2:1");
    struct door_address c = peer("ipv6:[2001:db8::1]:1"), d = peer("ipv6:[2001:db8::ffff:1]:2");
    struct door_address e = peer("ipv6:[2001:db8:0:1::1]:1"), none = { 0 };

    ck_assert(!door_address_equal(&a, &b));
    ck_assert(door_address_equal(&c, &d));
    ck_assert(!door_address_equal(&c, &e));
    ck_assert(!door_address_equal(&none, &none));
}
END_TEST

START_TEST(connections_are_found_until_they_go)
{
    struct door_connection connections[3];
    struct door_address address = peer("ipv4:10.0.0.1:2");

    add(&connections[0], "ipv4:10.0.0.1:1", false);
    add(&connections[1], "ipv4:10.0.0.1:2", false);
    add(&connections[2], "ipv4:10.0.0.2:2", true);

    ck_assert_ptr_eq(door_table_find(table, &address), &connections[1]);
    ck_assert_int_eq(door_table_count_address(table, &address), 2);
    ck_assert(!door_table_has_authenticated(table, &address));
    ck_assert(door_table_has_authenticated(table, &connections[2].address));
    door_table_remove(table, &connections[1]);
    ck_assert_ptr_null(door_table_find(table, &address));
    ck_assert_int_eq(door_table_count_address(table, &address), 1);
    door_table_remove(table, &connections[0]);
    door_table_remove(table, &connections[2]);
    ck_assert_int_eq(table->count, 0);
}
END_TEST

START_TEST(the_oldest_unauthenticated_comes_first)
{
    struct door_connection connections[4];

    for (int i = 0; i < 4; i++)
        add(&connections[i], "ipv4:10.0.0.1:1", i == 0);

    ck_assert_ptr_eq(table->oldest, &connections[1]);
    door_table_set_aside(table, &connections[2]);
    door_table_set_aside(table, &connections[2]);
    door_table_remove(table, &connections[1]);
    ck_assert_ptr_eq(table->oldest, &connections[3]);
    door_table_remove(table, &connections[3]);
    ck_assert_ptr_null(table->oldest);
    ck_assert_ptr_null(table->newest);
}
END_TEST

START_TEST(the_dearest_goes_first)
{
    struct door_connection connections[4];

    for (int i = 0; i < 4; i++)
        add(&connections[i], "ipv4:10.0.0.1:1", i >= 2);
    connections[0].calls = 1;
    connections[1].received = 100;
    connections[2].received = 1000000;
    connections[3].received = 3000000;

    ck_assert_ptr_eq(door_table_worst(table, false), &connections[0]);
    ck_assert_ptr_eq(door_table_worst(table, true), &connections[0]);
    connections[0].hung_up = connections[1].hung_up = true;
    ck_assert_ptr_null(door_table_worst(table, false));
    ck_assert_ptr_eq(door_table_worst(table, true), &connections[3]);
    door_table_age(table);
    ck_assert_uint_eq(connections[3].received, 1500000);
}
END_TEST

Suite *test_door_table_suite(void)
{
    Suite *suite = suite_create("door_table");
    TCase *tcase = tcase_create("door_table");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, peers_are_the_addresses_of_their_sockets, 0, (int)ARRAY_LEN(address_cases));
    tcase_add_test(tcase, what_is_no_peer_is_not_found);
    tcase_add_test(tcase, a_host_is_an_address_or_a_network);
    tcase_add_test(tcase, connections_are_found_until_they_go);
    tcase_add_test(tcase, the_oldest_unauthenticated_comes_first);
    tcase_add_test(tcase, the_dearest_goes_first);
    suite_add_tcase(suite, tcase);
    return suite;
}
