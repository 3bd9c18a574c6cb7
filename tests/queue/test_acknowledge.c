/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of queue/lua/acknowledge.lua: acknowledged messages are removed, in any order among the others, and no other
 * message is.
 */
#include <check.h>
#include <stdlib.h>

#include "queue/queue.h"
#include "tests/support/redis_server.h"

#define STREAM "tavola:{q0}:intents"

enum { CONSUMERS = 3, MESSAGES = 400, MAX_AT_ONCE = 40 };

static struct redis_server server;
static struct arena arena;
static struct queue *consumers[CONSUMERS];

static void given_consumers(void)
{
    static const char *const names[CONSUMERS] = { "one", "two", "three" };

    redis_server_start(&server);
    arena_init(&arena);
    for (int i = 0; i < CONSUMERS; i++) {
        struct queue_options options = {
            .redis.url = server.url, .consumer = names[i], .shards = 1, .max_messages = 10000
        };

        ck_assert_int_eq(queue_open(&options, &consumers[i], NULL), STATUS_OK);
    }
}

static void the_consumers_go(void)
{
    for (int i = 0; i < CONSUMERS; i++)
        queue_close(consumers[i]);
    arena_cleanup(&arena);
    redis_server_stop(&server);
}

/* Messages first..first + count - 1; a message's number is its bucket. */
static void publish(int first, int count)
{
    struct intent *intents = ARENA_ARRAY(&arena, struct intent, (size_t)count);
    size_t published;

    for (int i = 0; i < count; i++) {
        intents[i].bucket = (int16_t)(first + i);
        intents[i].kind = INTENT_RECONCILE;
        intents[i].id = intent_id_of(0, 0, (uint32_t)(first + i));
    }
    ck_assert_int_eq(queue_publish(consumers[0], intents, (size_t)count, &published, NULL), STATUS_OK);
    ck_assert_uint_eq(published, (size_t)count);
}

static struct queue_message *claim(int consumer, size_t max, size_t *count)
{
    struct queue_message *messages = NULL;

    ck_assert_int_eq(queue_claim(consumers[consumer],
                         &(struct queue_take){ .max_count = max, .arena = &arena }, &messages, count, NULL),
        STATUS_OK);
    return messages;
}

static struct queue_message *claim_exactly(int consumer, size_t want)
{
    size_t count;
    struct queue_message *messages = claim(consumer, want, &count);

    ck_assert_uint_eq(count, want);
    return messages;
}

static struct queue_message *reclaim(int consumer, int64_t idle_ms, size_t *count)
{
    struct queue_message *messages = NULL;

    ck_assert_int_eq(queue_reclaim(consumers[consumer],
                         &(struct queue_take){ .max_count = MESSAGES, .idle_ms = idle_ms, .arena = &arena },
                         &messages, count, NULL),
        STATUS_OK);
    return messages;
}

static void acknowledge(const struct queue_message *messages, size_t count)
{
    ck_assert_int_eq(queue_acknowledge(consumers[0], messages, count, NULL), STATUS_OK);
}

static void check_state(int64_t length, int64_t pending)
{
    struct queue_state state = { 0 };

    ck_assert_int_eq(queue_inspect(consumers[0], &state, NULL), STATUS_OK);
    ck_assert_int_eq(state.length, length);
    ck_assert_int_eq(state.pending, pending);
}

/* ---- at random ---- */

/* Messages that consumers have claimed one after another and none has acknowledged. */
struct held {
    struct queue_message messages[MESSAGES];
    size_t count;
};

static struct queue_message take_any(struct held *held)
{
    size_t at = (size_t)rand() % held->count;
    struct queue_message taken = held->messages[at];

    held->messages[at] = held->messages[--held->count];
    return taken;
}

static void acknowledge_some(struct held *held, bool done[MESSAGES])
{
    struct queue_message some[MAX_AT_ONCE];
    size_t count = 0, max = (size_t)rand() % MAX_AT_ONCE;

    for (; count < max && held->count > 0; count++) {
        some[count] = take_any(held);
        done[some[count].intent.bucket] = true;
    }
    acknowledge(some, count);
}

/* A message that is released, or taken over by another consumer: until it is claimed again it is pending. */
static void release_one(struct held *held)
{
    struct queue_message one;
    size_t count;

    if (held->count == 0)
        return;
    one = take_any(held);
    ck_assert_int_eq(queue_release(consumers[0], &one, 1, NULL), STATUS_OK);
    if (rand() % 2 == 0)
        reclaim(rand() % CONSUMERS, 3600 * 1000, &count);
    held->messages[held->count++] = one;
}

static void check_what_is_left(int published, bool done[MESSAGES])
{
    struct queue_message *messages;
    size_t count, left = 0;

    claim(1, MESSAGES, &count);
    do {
        messages = reclaim(2, 0, &count);
        for (size_t i = 0; i < count; i++) {
            ck_assert(!done[messages[i].intent.bucket]);
            done[messages[i].intent.bucket] = true;
        }
        acknowledge(messages, count);
        left += count;
    } while (count > 0);
    for (int i = 0; i < published; i++)
        ck_assert_msg(done[i], "message %d of %d is lost", i, published);
    check_state(0, 0);
}

START_TEST(exactly_what_is_not_acknowledged_stays)
{
    struct held held = { .count = 0 };
    bool done[MESSAGES] = { false };
    int published = 0, acknowledged = 0;

    srand((unsigned)_i);
    while (published < MESSAGES) {
        int more = rand() % MAX_AT_ONCE;
        size_t count;
        struct queue_message *messages;

        more = more < MESSAGES - published ? more : MESSAGES - published;
        if (more > 0)
            publish(published, more);
        published += more;
        messages = claim(rand() % CONSUMERS, 1 + (size_t)rand() % MAX_AT_ONCE, &count);
        memcpy(held.messages + held.count, messages, count * sizeof(*messages));
        held.count += count;
        release_one(&held);
        acknowledge_some(&held, done);

        acknowledged = 0;
        for (int i = 0; i < published; i++)
            acknowledged += done[i];
        check_state(published - acknowledged, (int64_t)held.count);
    }
    check_what_is_left(published, done);
}
END_TEST

/* ---- streams that are removed and made again ---- */

START_TEST(what_is_behind_the_last_delivery_stays)
{
    publish(0, 10);
    acknowledge(claim_exactly(0, 4), 4);

    check_state(6, 0);
    ck_assert_int_eq(claim_exactly(1, 6)->intent.bucket, 4);
}
END_TEST

START_TEST(what_waits_for_its_owner_stays)
{
    struct queue_message *mine, *others;

    publish(0, 300);
    others = claim_exactly(1, 100);
    mine = claim_exactly(0, 100);
    acknowledge(mine, 100);
    check_state(200, 100);
    acknowledge(others + 1, 99);
    check_state(101, 1);
    acknowledge(others, 1);
    check_state(100, 0);
}
END_TEST

/*
 * Claimed from a stream that is then flushed. Its id is given, because an id from the time could equal that of a
 * later entry.
 */
static struct queue_message *claim_in_an_earlier_life(const char *entry_id)
{
    struct queue_message *old;

    redis_server_command(
        &server, "XADD", STREAM, entry_id, "v2", "0 00000000000000000000000000000000 1 7 0 ", NULL);
    old = claim_exactly(0, 1);
    redis_server_command(&server, "FLUSHALL", NULL);
    return old;
}

START_TEST(the_earlier_life_of_a_stream_takes_nothing_from_the_new_one)
{
    struct queue_message *old = claim_in_an_earlier_life(_i == 0 ? "1-1" : "9999999999999-7");

    acknowledge(old, 1);
    publish(10, 3);
    acknowledge(old, 1); /* the stream has no group */
    check_state(3, 0);
    claim_exactly(1, 1);
    acknowledge(old, 1);
    check_state(3, 1);
    claim_exactly(1, 2);
}
END_TEST

START_TEST(ids_of_two_lives_in_one_call_take_what_was_delivered_in_this)
{
    struct queue_message both[2];

    both[0] = *claim_in_an_earlier_life("9999999999999-7");
    publish(10, 5);
    both[1] = *claim_exactly(0, 1);
    acknowledge(both, 2);

    check_state(4, 0);
    ck_assert_int_eq(claim_exactly(1, 4)->intent.bucket, 11);
}
END_TEST

START_TEST(a_group_that_was_made_anew_is_given_everything)
{
    struct queue_message *old;

    publish(0, 5);
    old = claim_exactly(0, 3);
    redis_server_command(&server, "XGROUP", "DESTROY", STREAM, "workers", NULL);
    acknowledge(old, 3);
    redis_server_command(&server, "XGROUP", "CREATE", STREAM, "workers", "0", NULL);
    acknowledge(old, 3);

    check_state(5, 0);
    acknowledge(claim_exactly(1, 2), 2);
    check_state(3, 0);
}
END_TEST

START_TEST(what_another_has_acknowledged_is_done_twice_without_harm)
{
    struct queue_message *slow, *again;
    size_t count;

    publish(0, 4);
    slow = claim_exactly(0, 2);
    again = reclaim(1, 0, &count);
    ck_assert_uint_eq(count, 2);
    acknowledge(again, 2);
    acknowledge(slow, 2);
    check_state(2, 0);
    claim_exactly(2, 2);
    acknowledge(slow, 2);
    check_state(2, 2);
}
END_TEST

Suite *test_acknowledge_suite(void)
{
    Suite *suite = suite_create("acknowledge");
    TCase *tc = tcase_create("acknowledge");

    tcase_add_checked_fixture(tc, given_consumers, the_consumers_go);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, exactly_what_is_not_acknowledged_stays, 0, 10);
    tcase_add_test(tc, what_is_behind_the_last_delivery_stays);
    tcase_add_test(tc, what_waits_for_its_owner_stays);
    tcase_add_loop_test(tc, the_earlier_life_of_a_stream_takes_nothing_from_the_new_one, 0, 2);
    tcase_add_test(tc, ids_of_two_lives_in_one_call_take_what_was_delivered_in_this);
    tcase_add_test(tc, a_group_that_was_made_anew_is_given_everything);
    tcase_add_test(tc, what_another_has_acknowledged_is_done_twice_without_harm);
    suite_add_tcase(suite, tc);
    return suite;
}
