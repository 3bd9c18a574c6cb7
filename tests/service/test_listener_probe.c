/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/probes/listener_probe.c: a listener that answers, one that closes connections, and one that no
 * thread serves.
 */
#include "service/probes/listener_probe.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SHORT_MS = 100, LONG_MS = 20000, PERIOD_MS = 20 };

static int listener, port;
static bool answers;

static void setup(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);

    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(listener, (void *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 4), 0);
    ck_assert_int_eq(getsockname(listener, (void *)&address, &size), 0);
    port = ntohs(address.sin_port);
}

static void teardown(void)
{
    close(listener);
}

static void *serve_one(void *unused)
{
    int one = accept(listener, NULL, NULL);

    (void)unused;
    if (answers)
        ck_assert_int_eq(send(one, "x", 1, MSG_NOSIGNAL), 1);
    close(one);
    return NULL;
}

static bool probe_served(const char *address)
{
    pthread_t server;
    bool is_answered;

    ck_assert_int_eq(pthread_create(&server, NULL, serve_one, NULL), 0);
    is_answered = listener_probe_once(address, port, LONG_MS);
    pthread_join(server, NULL);
    return is_answered;
}

START_TEST(a_listener_that_takes_connections_is_alive)
{
    const char *addresses[] = { "127.0.0.1:0", "0.0.0.0:0", "localhost:0" };

    answers = true;
    ck_assert(probe_served(addresses[_i]));
    answers = false;
    ck_assert(probe_served(addresses[_i]));
}
END_TEST

START_TEST(a_listener_without_a_server_is_not_available)
{
    ck_assert(!listener_probe_once("127.0.0.1:0", port, SHORT_MS));
    close(listener);
    ck_assert(!listener_probe_once("127.0.0.1:0", port, LONG_MS));
    ck_assert(!listener_probe_once("unix:/nowhere/at/all", 0, LONG_MS));
}
END_TEST

START_TEST(health_tells_of_a_silent_listener)
{
    struct health health;

    health_init(&health);
    health_set_available(&health, true);
    ck_assert(health_is_serving(&health, true) && health_is_serving(&health, false));
    health_set_listening(&health, false);
    ck_assert(!health_is_serving(&health, true) && !health_is_serving(&health, false));
    health_set_listening(&health, true);
    ck_assert(health_is_serving(&health, true) && health_is_serving(&health, false));
}
END_TEST

static void *serve_all(void *unused)
{
    int one;

    (void)unused;
    while ((one = accept(listener, NULL, NULL)) >= 0)
        close(one);
    return NULL;
}

static void await_health(struct health *health, bool is_serving)
{
    while (health_is_serving(health, true) != is_serving)
        sched_yield();
}

/* A port that is bound, but not listened on, does not answer. */
START_TEST(the_thread_tells_health_of_a_silent_listener_and_of_its_return)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    struct listener_probe *probe;
    struct health health;
    pthread_t server;
    int on = 1;

    health_init(&health);
    health_set_available(&health, true);
    close(listener);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    ck_assert_int_eq(bind(listener, (void *)&address, sizeof(address)), 0);
    probe = listener_probe_start("127.0.0.1:0", port, PERIOD_MS, &health);
    await_health(&health, false);

    ck_assert_int_eq(listen(listener, 4), 0);
    ck_assert_int_eq(pthread_create(&server, NULL, serve_all, NULL), 0);
    await_health(&health, true);

    listener_probe_stop(probe);
    ck_assert_int_eq(shutdown(listener, SHUT_RDWR), 0);
    pthread_join(server, NULL);
}
END_TEST

Suite *test_listener_probe_suite(void)
{
    Suite *suite = suite_create("listener_probe");
    TCase *tcase = tcase_create("listener_probe");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, a_listener_that_takes_connections_is_alive, 0, 3);
    tcase_add_test(tcase, a_listener_without_a_server_is_not_available);
    tcase_add_test(tcase, health_tells_of_a_silent_listener);
    tcase_add_test(tcase, the_thread_tells_health_of_a_silent_listener_and_of_its_return);
    suite_add_tcase(suite, tcase);
    return suite;
}
