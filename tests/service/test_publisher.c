/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/publisher.c against a Redis.
 */
#include "service/publisher.h"

#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/support/redis_server.h"

enum {
    COMMITS = 200, /* while Redis stands still; few enough for one call of the script */
    PAUSE_NS = 1000000,
};

static struct redis_server server;
static struct remembered *remembered;
static struct publisher *publisher;

static void given_a_publisher(void)
{
    struct queue_options options = { .shards = 1, .max_messages = 10000 };

    redis_server_start(&server);
    options.redis.url = server.url;
    remembered = remembered_new();
    ck_assert_int_eq(publisher_start(&options, remembered, &publisher, NULL), STATUS_OK);
}

static void it_goes(void)
{
    publisher_stop(publisher);
    remembered_free(remembered);
    redis_server_stop(&server);
}

static void commit(int number)
{
    struct intent intent = {
        .bucket = (int16_t)number, .kind = INTENT_RECONCILE, .id = intent_id_of(0, 0, (uint32_t)number)
    };

    publisher_push(publisher, &intent, 1);
}

/* The time limit of the test case ends a wait for what never comes. */
static void wait_for(enum publisher_outcome outcome, long long count)
{
    while (publisher_count(publisher, outcome) < count)
        nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
}

static long long messages(void)
{
    return redis_server_command(&server, "XLEN", "tavola:{q0}:intents", NULL) +
           redis_server_command(&server, "ZCARD", "tavola:{q0}:waiting", NULL);
}

START_TEST(commits_that_wait_for_redis_are_published_together)
{
    long long before;

    given_a_publisher();
    commit(0);
    wait_for(PUBLISHER_PUBLISHED, 1);
    before = redis_server_script_calls(&server);
    kill(server.pid, SIGSTOP);
    waitpid(server.pid, NULL, WUNTRACED);
    for (int i = 1; i <= COMMITS; i++)
        commit(i);
    kill(server.pid, SIGCONT);
    wait_for(PUBLISHER_PUBLISHED, 1 + COMMITS);
    ck_assert_int_eq(messages(), 1 + COMMITS);
    /* one call for what was sent to the Redis that stood still, and one for all the rest */
    ck_assert_int_le(redis_server_script_calls(&server) - before, 2);
    it_goes();
}
END_TEST

START_TEST(what_cannot_be_published_is_counted_and_dropped)
{
    given_a_publisher();
    redis_server_kill(&server);
    commit(0);
    wait_for(PUBLISHER_FAILED, 1);
    ck_assert(!publisher_is_heard(publisher));
    ck_assert_int_eq(publisher_count(publisher, PUBLISHER_PUBLISHED), 0);
    it_goes();
}
END_TEST

Suite *test_publisher_suite(void)
{
    Suite *suite = suite_create("publisher");
    TCase *tc = tcase_create("publisher");

    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, commits_that_wait_for_redis_are_published_together);
    tcase_add_test(tc, what_cannot_be_published_is_counted_and_dropped);
    suite_add_tcase(suite, tc);
    return suite;
}
