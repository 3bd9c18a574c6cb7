/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_turns.c - accounts share the consumers' time: messages that wait for their turn, against a Redis of their own.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "queue/queue.h"
#include "tests/support/redis_server.h"

enum {
    MAX = 4000,
    UNREAD = 64, /* messages of one key each that may be unread in the stream */
    MANY = 500,
};

static struct redis_server server;
static struct arena arena;
static struct queue *queue, *other;

static struct queue *open_queue(const char *consumer)
{
    struct queue_options options = {
        .redis.url = server.url, .consumer = consumer, .shards = 1, .max_messages = MAX
    };
    struct queue *opened = NULL;

    ck_assert_int_eq(queue_open(&options, &opened, NULL), STATUS_OK);
    return opened;
}

static void given_a_queue(void)
{
    redis_server_start(&server);
    arena_init(&arena);
    queue = open_queue("one");
    other = open_queue("two");
}

static void the_queue_goes(void)
{
    queue_close(queue);
    queue_close(other);
    arena_cleanup(&arena);
    redis_server_stop(&server);
}

/* Publish reconciles of this account, with its name as their partition key; returns how many were taken. */
static size_t publish(const char *account, int count)
{
    struct intent *intents = ARENA_ARRAY(&arena, struct intent, (size_t)count);
    size_t published = 0;

    for (int i = 0; i < count; i++)
        intents[i] = (struct intent){ .kind = INTENT_RECONCILE,
            .table_id = 7,
            .account = str_of(account),
            .key = { .partition = str_of(account), .row = arena_format(&arena, "%d", i) } };
    ck_assert_int_eq(queue_publish(queue, intents, (size_t)count, &published, NULL), STATUS_OK);
    return published;
}

/* Publish transactions of this account, each of whose last turns took spent_us. */
static void publish_transactions(const char *account, int count, int64_t spent_us)
{
    for (int i = 0; i < count; i++) {
        struct intent intent = { .kind = INTENT_TRANSACTION,
            .key = { .partition = str_of(account), .row = arena_format(&arena, "%d", i) },
            .spent_us = spent_us };
        size_t published;

        ck_assert_int_eq(queue_publish(queue, &intent, 1, &published, NULL), STATUS_OK);
        ck_assert_uint_eq(published, 1);
    }
}

static size_t claim_up_to(struct queue *by, size_t max, struct queue_message **messages)
{
    struct queue_take take = { .max_count = max, .arena = &arena };
    size_t count = 0;

    ck_assert_int_eq(queue_claim(by, &take, messages, &count, NULL), STATUS_OK);
    return count;
}

static struct queue_message *claim(size_t count)
{
    struct queue_message *messages;

    ck_assert_uint_eq(claim_up_to(queue, count, &messages), count);
    return messages;
}

static int count_of(const struct queue_message *messages, size_t count, const char *account)
{
    int found = 0;

    for (size_t i = 0; i < count; i++)
        found += str_equal(messages[i].intent.key.partition, str_of(account));
    return found;
}

static int64_t length(void)
{
    struct queue_state state = { 0 };

    ck_assert_int_eq(queue_inspect(queue, &state, NULL), STATUS_OK);
    return state.length;
}

START_TEST(one_message_waits_for_the_next_turn_only)
{
    ck_assert_uint_eq(publish("noisy", MANY), MANY);
    ck_assert_uint_eq(publish("quiet", 1), 1);

    ck_assert_int_eq(count_of(claim(UNREAD), UNREAD, "noisy"), UNREAD);
    ck_assert_int_eq(count_of(claim(3), 3, "quiet"), 1);
}
END_TEST

START_TEST(accounts_with_a_backlog_get_the_same_share)
{
    publish("a", 4 * MANY);
    publish("b", MANY);
    publish("c", MANY);
    claim(UNREAD);

    for (int i = 0; i < 5; i++) {
        struct queue_message *messages = claim(60);

        /* of a few messages of the next turn it depends on their keys which comes first */
        ck_assert_int_ge(count_of(messages, 60, "a"), 19);
        ck_assert_int_ge(count_of(messages, 60, "b"), 19);
        ck_assert_int_ge(count_of(messages, 60, "c"), 19);
    }
}
END_TEST

START_TEST(what_an_account_did_not_use_is_not_saved)
{
    publish("a", MANY);
    claim(UNREAD + 200);
    publish("late", MANY);

    ck_assert_int_le(count_of(claim(100), 100, "late"), 60);
}
END_TEST

START_TEST(an_account_with_costly_work_gets_fewer_messages)
{
    int fast = 0, slow = 0;

    publish("fast", MANY);
    publish_transactions("slow", 100, 0);
    claim(UNREAD);

    for (int i = 0; i < 10; i++) {
        struct queue_message *messages;
        size_t count = claim_up_to(queue, 50, &messages);

        ck_assert_int_le(count_of(messages, count, "slow"), 3);
        fast += count_of(messages, count, "fast");
        slow += count_of(messages, count, "slow");
    }
    ck_assert_int_ge(25 * slow, fast - 50);
    ck_assert_int_le(25 * slow, fast + 50);
}
END_TEST

START_TEST(work_that_goes_on_costs_what_its_last_turn_has_cost)
{
    int slow = 0;

    publish("fast", MANY);
    publish_transactions("slow", 5, 5000);
    claim(UNREAD);

    for (int claimed = 0; claimed < 250;) {
        struct queue_message *messages;
        size_t count = claim_up_to(queue, 50, &messages);

        slow += count_of(messages, count, "slow");
        claimed += (int)count;
    }
    ck_assert_int_le(slow, 1);
}
END_TEST

START_TEST(costly_work_does_not_pile_up_in_the_stream)
{
    struct queue_message *messages;
    size_t count;

    publish_transactions("slow", 50, 0);
    publish("fast", 1);
    count = claim_up_to(queue, 5, &messages);

    ck_assert_uint_le(count, 5);
    ck_assert_int_eq(count_of(messages, count, "fast"), 1);
}
END_TEST

START_TEST(two_consumers_claim_each_message_once)
{
    static const char *const accounts[] = { "a", "b", "c", "d", "" };
    bool seen[ARRAY_LEN(accounts)][MANY] = { { false } };
    size_t claimed = 0, got;

    for (size_t i = 0; i < ARRAY_LEN(accounts); i++)
        ck_assert_uint_eq(publish(accounts[i], MANY), MANY);
    do {
        struct queue_message *messages;

        got = claim_up_to(claimed % 2 ? queue : other, 37, &messages);
        for (size_t i = 0; i < got; i++) {
            const struct entity_key *key = &messages[i].intent.key;
            size_t account = 0;

            while (!str_equal(key->partition, str_of(accounts[account])))
                account++;
            ck_assert(!seen[account][atoi(arena_copy(&arena, key->row).data)]);
            seen[account][atoi(arena_copy(&arena, key->row).data)] = true;
        }
        claimed += got;
        ck_assert_int_eq(queue_acknowledge(queue, messages, got, NULL), STATUS_OK);
    } while (got > 0);

    ck_assert_uint_eq(claimed, ARRAY_LEN(accounts) * MANY);
    ck_assert_int_eq(length(), 0);
}
END_TEST

START_TEST(waiting_messages_may_hold_any_bytes)
{
    static const char bytes[] = "p\0\n\xff of 9 digits";
    struct intent intent = { .kind = INTENT_RECONCILE,
        .table_id = 9,
        .account = str_of_bytes(bytes, 5),
        .key = { .partition = str_of_bytes(bytes, sizeof(bytes)), .row = str_of_bytes(bytes, 3) } };
    struct queue_message *got;
    size_t published;

    memset(&intent.ctids, 7, sizeof(intent.ctids));
    publish("noisy", MANY);
    ck_assert_int_eq(queue_publish(queue, &intent, 1, &published, NULL), STATUS_OK);
    claim(UNREAD);
    got = claim(3);
    for (int i = 0; i < 2 && got->intent.table_id != intent.table_id; i++)
        got++;

    ck_assert_int_eq(got->intent.table_id, intent.table_id);
    ck_assert(str_equal(got->intent.key.partition, intent.key.partition));
    ck_assert(str_equal(got->intent.key.row, intent.key.row));
    ck_assert_mem_eq(&got->intent.ctids, &intent.ctids, sizeof(intent.ctids));
}
END_TEST

/* Four fifths for the first account, the same of the rest for the next one; and some for each in any case. */
START_TEST(no_account_takes_the_whole_room)
{
    ck_assert_uint_le(publish("a", 2 * MAX), 4 * MAX / 5);
    ck_assert_int_ge(length(), MAX / 2);
    ck_assert_uint_ge(publish("b", MAX), MAX / 8);
    ck_assert_uint_ge(publish("c", MAX), MAX / 64);
    ck_assert_uint_ge(publish("d", MAX), MAX / 64);
    ck_assert_uint_eq(publish("a", 1), 0);
    ck_assert_int_le(length(), MAX);
}
END_TEST

START_TEST(what_is_due_next_is_taken_without_room)
{
    char account[16];

    for (int i = 0; length() < MAX; i++) {
        snprintf(account, sizeof(account), "a%d", i);
        ck_assert_uint_gt(publish(account, MAX), 0);
    }
    ck_assert_uint_eq(publish("late", 2), 1);
    ck_assert_int_le(length(), MAX + MAX / 16);
}
END_TEST

/* Each transaction's next turn is published when its last one has ended. */
START_TEST(work_with_long_turns_goes_on_beside_a_full_account)
{
    publish("noisy", 2 * MAX);

    for (int i = 0; i < 20; i++) {
        publish_transactions("slow", 1, 3600 * INT64_C(1000000));
        claim(1);
    }
}
END_TEST

START_TEST(a_message_that_waits_costs_nothing_more)
{
    struct queue_message *messages;

    publish("noisy", MANY);
    for (int i = 0; i < 50; i++)
        ck_assert_uint_eq(publish("quiet", 2), 2);
    ck_assert_int_eq(length(), MANY + 2);
    claim(UNREAD);
    messages = claim(5);

    ck_assert_int_eq(count_of(messages, 5, "quiet"), 2);
}
END_TEST

START_TEST(the_rest_of_work_is_the_message_that_waits)
{
    publish("noisy", MANY);
    publish_transactions("slow", 1, 0);
    publish_transactions("slow", 1, 5000);

    ck_assert_int_eq(length(), MANY + 1);
}
END_TEST

/* Wait for messages in the stream, and take up to `max`. */
static size_t wait_by(struct queue *by, struct arena *with, size_t max)
{
    struct queue_take take = { .max_count = max, .wait_ms = 20000, .arena = with };
    struct queue_message *messages;
    size_t count = 0;

    (void)!queue_claim(by, &take, &messages, &count, NULL);
    return count;
}

static void *other_waits(void *result)
{
    struct arena mine;

    arena_init(&mine);
    *(size_t *)result = wait_by(other, &mine, 8);
    arena_cleanup(&mine);
    return NULL;
}

static bool is_blocked(void)
{
    return redis_server_command(&server, "EVAL",
               "return tonumber(string.match(redis.call('INFO', 'clients'), 'blocked_clients:(%d+)'))", "0",
               NULL) > 0;
}

/* Another consumer has taken all that was in the stream. */
START_TEST(a_claim_leaves_some_for_consumers_that_wait)
{
    size_t got = 0;
    pthread_t waiting;

    publish("a", MANY);
    ck_assert_uint_eq(wait_by(queue, &arena, UNREAD), UNREAD);
    ck_assert_int_eq(pthread_create(&waiting, NULL, other_waits, &got), 0);
    while (!is_blocked())
        sched_yield();
    claim(8);
    pthread_join(waiting, NULL);

    ck_assert_uint_eq(got, 8);
}
END_TEST

START_TEST(a_claim_runs_a_script_only_if_messages_wait)
{
    long long before;

    publish("a", 1);
    claim(1); /* by the script, which has made the group */

    publish("a", MANY);
    before = redis_server_script_calls(&server);
    claim(2 * UNREAD);
    ck_assert_int_eq(redis_server_script_calls(&server) - before, 1);
    claim(MANY - 2 * UNREAD);
    ck_assert_int_eq(redis_server_script_calls(&server) - before, 2);

    publish("a", 8);
    before = redis_server_script_calls(&server);
    claim(8);
    ck_assert_int_eq(redis_server_script_calls(&server) - before, 0);
}
END_TEST

/* Workers of a version without turns only read the stream. */
START_TEST(a_message_is_appended_if_nothing_is_unread)
{
    publish("a", MANY);
    ck_assert_uint_eq(wait_by(queue, &arena, UNREAD), UNREAD);
    publish("b", 2);

    ck_assert_uint_eq(wait_by(queue, &arena, UNREAD), 1);
}
END_TEST

START_TEST(what_is_no_message_is_left_out)
{
    static const char *const texts[] = { "", "text", " text", "x 00", "1" };

    publish("a", MANY);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        ck_assert_int_eq(
            redis_server_command(&server, "ZADD", "tavola:{q0}:waiting", "-1", texts[i], NULL), 1);
    claim(UNREAD);

    for (int claimed = UNREAD; claimed < MANY;) {
        struct queue_message *messages;
        size_t count = claim_up_to(queue, 50, &messages);

        ck_assert_int_eq(count_of(messages, count, "a"), (int)count);
        ck_assert_uint_gt(count, 0);
        claimed += (int)count;
    }
}
END_TEST

START_TEST(what_waits_expires_with_its_stream)
{
    publish("a", MANY);

    ck_assert_int_gt(redis_server_command(&server, "TTL", "tavola:{q0}:waiting", NULL), 80000);
    ck_assert_int_gt(redis_server_command(&server, "TTL", "tavola:{q0}:turns", NULL), 80000);
}
END_TEST

START_TEST(a_full_redis_lets_the_stream_be_claimed_and_keeps_what_waits)
{
    struct queue_message *got;

    publish("a", MANY);
    redis_server_command(&server, "CONFIG", "SET", "maxmemory", "1", NULL);

    ck_assert_uint_eq(claim_up_to(queue, MANY, &got), UNREAD);
    ck_assert_int_eq(queue_acknowledge(queue, got, UNREAD, NULL), STATUS_OK);
    redis_server_command(&server, "CONFIG", "SET", "maxmemory", "0", NULL);
    claim(MANY - UNREAD);
}
END_TEST

Suite *test_turns_suite(void);
Suite *test_turns_suite(void)
{
    Suite *suite = suite_create("turns");
    TCase *tc = tcase_create("one shard");

    tcase_add_checked_fixture(tc, given_a_queue, the_queue_goes);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, one_message_waits_for_the_next_turn_only);
    tcase_add_test(tc, accounts_with_a_backlog_get_the_same_share);
    tcase_add_test(tc, what_an_account_did_not_use_is_not_saved);
    tcase_add_test(tc, an_account_with_costly_work_gets_fewer_messages);
    tcase_add_test(tc, work_that_goes_on_costs_what_its_last_turn_has_cost);
    tcase_add_test(tc, costly_work_does_not_pile_up_in_the_stream);
    tcase_add_test(tc, two_consumers_claim_each_message_once);
    tcase_add_test(tc, waiting_messages_may_hold_any_bytes);
    tcase_add_test(tc, no_account_takes_the_whole_room);
    tcase_add_test(tc, what_is_due_next_is_taken_without_room);
    tcase_add_test(tc, work_with_long_turns_goes_on_beside_a_full_account);
    tcase_add_test(tc, a_message_that_waits_costs_nothing_more);
    tcase_add_test(tc, the_rest_of_work_is_the_message_that_waits);
    tcase_add_test(tc, a_claim_runs_a_script_only_if_messages_wait);
    tcase_add_test(tc, a_message_is_appended_if_nothing_is_unread);
    tcase_add_test(tc, what_is_no_message_is_left_out);
    tcase_add_test(tc, a_claim_leaves_some_for_consumers_that_wait);
    tcase_add_test(tc, what_waits_expires_with_its_stream);
    tcase_add_test(tc, a_full_redis_lets_the_stream_be_claimed_and_keeps_what_waits);
    suite_add_tcase(suite, tc);
    return suite;
}
