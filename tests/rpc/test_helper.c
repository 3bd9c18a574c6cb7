/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_helper.c - a server with one queue thread and its helper.
 *
 * A call of its only method uses the processor until a second call is in its handler, or for CALL_US. Two are there at
 * the same time only if two threads serve.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/macros.h"
#include "rpc/channel.h"
#include "rpc/helper.h"
#include "rpc/server.h"

enum {
    CALLERS = 2,
    CALL_US = 2000,
    NICE = -20,
    WAIT_US = 60 * 1000000,
    CALL_MS = 60000,
    RECEIVE_BYTES = 4096
};

static struct rpc_server *server;
static char target[32];
static atomic_int inside;
static atomic_bool together;

static void begin(struct rpc_call *call)
{
    rpc_call_read(call);
}

static void use_processor(struct rpc_call *call, struct str message)
{
    int64_t end_us = clock_monotonic_us() + CALL_US;

    if (atomic_fetch_add(&inside, 1) > 0)
        atomic_store(&together, true);
    while (!atomic_load(&together) && clock_monotonic_us() < end_us)
        continue;
    atomic_fetch_sub(&inside, 1);
    rpc_call_reply(call, message);
}

static const struct rpc_method methods[] = {
    { "/test.Helper/UseProcessor", RPC_UNARY, "UseProcessor", false, false },
};

static void start(void)
{
    struct rpc_options options = { .listen = "127.0.0.1:0",
        .threads = 1,
        .helps = true,
        .receive_bytes = RECEIVE_BYTES,
        .methods = methods,
        .method_count = ARRAY_LEN(methods),
        .events = { .begin = begin, .message = use_processor } };
    struct error err = { 0 };

    /*
     * The helper is called when a thread uses nearly a whole processor, which it does not get beside other tests.
     * Without the right to a higher priority the test waits until these leave it one.
     */
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    inside = 0;
    together = false;
    ck_assert_msg(rpc_server_start(&options, &server, &err) == STATUS_OK, "%s", err.message);
    snprintf(target, sizeof(target), "127.0.0.1:%d", rpc_server_port(server));
}

static void stop(void)
{
    if (server)
        rpc_server_stop(server, CALL_MS);
    server = NULL;
}

/* One call after the other, on a connection of its own. */
static void *call_on(void *count)
{
    const struct rpc_channel_options options = { .target = target };
    int64_t end_us = clock_monotonic_us() + WAIT_US;
    struct rpc_channel *channel;
    struct error err = { 0 };

    ck_assert_int_eq(rpc_channel_open(&options, &channel, &err), STATUS_OK);
    while (!atomic_load(&together) && clock_monotonic_us() < end_us) {
        struct arena arena;
        struct rpc_status status;
        struct str reply;

        arena_init(&arena);
        rpc_channel_call(
            channel, &(struct rpc_request){ methods[0].path, STR_EMPTY, CALL_MS }, &arena, &reply, &status);
        *(int *)count += status.code == 0;
        arena_cleanup(&arena);
    }
    rpc_channel_close(channel);
    return NULL;
}

START_TEST(a_second_thread_serves_while_the_first_is_busy)
{
    pthread_t callers[CALLERS];
    int answered[CALLERS] = { 0 };
    struct rpc_connections seen;

    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&callers[i], NULL, call_on, &answered[i]), 0);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], NULL);
        ck_assert_int_gt(answered[i], 0);
    }
    ck_assert(together);
    rpc_server_read_connections(server, &seen);
    ck_assert_uint_gt(seen.helped, 0);
}
END_TEST

/* The stop would wait for ever for a helper that took no part in it. */
START_TEST(a_server_whose_helper_has_never_served_stops)
{
    struct rpc_connections seen;

    rpc_server_read_connections(server, &seen);
    ck_assert_uint_eq(seen.helped, 0);
    stop();
}
END_TEST

static atomic_bool over;

static void stay_on(size_t cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(pthread_setaffinity_np(pthread_self(), sizeof(one), &one), 0);
}

static void *keep_busy(void *cpu)
{
    stay_on(*(size_t *)cpu);
    while (!atomic_load(&over))
        continue;
    return NULL;
}

static size_t first_cpu(void)
{
    cpu_set_t allowed;
    size_t cpu = 0;

    ck_assert_int_eq(pthread_getaffinity_np(pthread_self(), sizeof(allowed), &allowed), 0);
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    return cpu;
}

/* Of two busy threads on one processor, each waits for half of the time. */
START_TEST(a_helper_is_needed_by_a_thread_that_waits_for_a_processor)
{
    int64_t end_us = clock_monotonic_us() + WAIT_US;
    size_t cpu = first_cpu();
    struct helper helper;
    pthread_t other;

    if (access("/proc/thread-self/schedstat", R_OK) != 0)
        return; /* this kernel does not tell how long threads wait */
    over = false;
    helper_init(&helper, 1);
    ck_assert_int_eq(pthread_create(&other, NULL, keep_busy, &cpu), 0);
    stay_on(cpu);
    helper_join(&helper);
    while (!atomic_load(&helper.needed) && clock_monotonic_us() < end_us)
        helper_look(&helper, HELP_LATE_CALLS + 1);
    atomic_store(&over, true);
    pthread_join(other, NULL);
    ck_assert(atomic_load(&helper.needed));
    ck_assert_int_gt(helper.pace.times.waited_us, 0);
    helper_destroy(&helper);
}
END_TEST

Suite *test_helper_suite(void)
{
    Suite *suite = suite_create("helper");
    TCase *tcase = tcase_create("helper");

    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, a_second_thread_serves_while_the_first_is_busy);
    tcase_add_test(tcase, a_server_whose_helper_has_never_served_stops);
    tcase_add_test(tcase, a_helper_is_needed_by_a_thread_that_waits_for_a_processor);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return suite;
}
