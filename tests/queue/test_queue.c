/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of queue/queue.c against a Redis of their own.
 */
#include "queue/queue.h"

#include <check.h>
#include <time.h>

#include "base/clock.h"
#include "queue/lua.h"
#include "tests/support/redis_server.h"

static struct redis_server server;
static struct arena arena;
static struct queue *queue; /* consumer "one" */
static struct queue *other; /* consumer "two" */

static struct queue *open_queue(const char *consumer, int shards, int64_t max)
{
    struct queue_options options = {
        .redis.url = server.url, .consumer = consumer, .shards = shards, .max_messages = max
    };
    struct queue *opened = NULL;
    struct error err = { 0 };

    ck_assert_msg(queue_open(&options, &opened, &err) == STATUS_OK, "%s", err.message);
    return opened;
}

static void given_a_queue(void)
{
    redis_server_start(&server);
    arena_init(&arena);
    queue = open_queue("one", 1, 1000);
    other = open_queue("two", 1, 1000);
}

static void given_four_shards(void)
{
    redis_server_start(&server);
    arena_init(&arena);
    queue = open_queue("one", 4, 1000);
    other = open_queue("two", 4, 1000);
}

static void the_queue_goes(void)
{
    queue_close(queue);
    queue_close(other);
    arena_cleanup(&arena);
    redis_server_stop(&server);
}

static struct intent an_intent(int bucket, const char *row)
{
    struct intent intent = { .bucket = (int16_t)bucket,
        .id = intent_id_of(0, 0, (uint32_t)bucket),
        .kind = INTENT_RECONCILE,
        .table_id = 7,
        .key = { .partition = STR_LITERAL("p"), .row = str_of(row) } };

    return intent;
}

static size_t publish(const struct intent *intents, size_t count)
{
    size_t published = 0;
    struct error err = { 0 };

    ck_assert_msg(queue_publish(queue, intents, count, &published, &err) == STATUS_OK, "%s", err.message);
    return published;
}

static void publish_rows(int count)
{
    for (int i = 0; i < count; i++) {
        struct intent intent = an_intent(i, arena_format(&arena, "r%d", i).data);

        ck_assert_uint_eq(publish(&intent, 1), 1);
    }
}

static struct queue_message *claim(struct queue *from, size_t max, size_t want)
{
    struct queue_message *messages = NULL;
    struct error err = { 0 };
    size_t count = 0;

    ck_assert_msg(queue_claim(from, &(struct queue_take){ .max_count = max, .arena = &arena }, &messages,
                      &count, &err) == STATUS_OK,
        "%s", err.message);
    ck_assert_uint_eq(count, want);
    return messages;
}

static struct queue_message *reclaim(struct queue *by, int64_t idle_ms, size_t want)
{
    struct queue_message *messages = NULL;
    struct error err = { 0 };
    size_t count = 0;

    ck_assert_msg(
        queue_reclaim(by, &(struct queue_take){ .max_count = 100, .idle_ms = idle_ms, .arena = &arena },
            &messages, &count, &err) == STATUS_OK,
        "%s", err.message);
    ck_assert_uint_eq(count, want);
    return messages;
}

static struct queue_state inspect(void)
{
    struct queue_state state = { 0 };
    struct error err = { 0 };

    ck_assert_msg(queue_inspect(queue, &state, &err) == STATUS_OK, "%s", err.message);
    return state;
}

static void check_state(int64_t length, int64_t pending)
{
    struct queue_state state = inspect();

    ck_assert_int_eq(state.length, length);
    ck_assert_int_eq(state.pending, pending);
}

/* Try until the queue answers again; the queue itself pauses between attempts. */
static void wait_until_connected(void)
{
    int64_t deadline = clock_monotonic_us() + 60 * 1000 * 1000;
    struct queue_state state;

    while (queue_inspect(queue, &state, NULL) != STATUS_OK) {
        ck_assert_msg(clock_monotonic_us() < deadline, "no connection");
        clock_sleep(5 * 1000);
    }
}

START_TEST(a_message_is_published_claimed_and_acknowledged)
{
    struct intent sent = an_intent(5, "r");
    struct queue_message *got;

    ck_assert_uint_eq(publish(&sent, 1), 1);
    got = claim(queue, 10, 1);
    check_state(1, 1);

    ck_assert_int_eq(got->intent.bucket, 5);
    ck_assert_int_eq(got->intent.kind, INTENT_RECONCILE);
    ck_assert_int_eq(got->intent.table_id, 7);
    ck_assert_int_eq(intent_id_compare(got->intent.id, sent.id), 0);
    ck_assert(str_equal(got->intent.key.partition, sent.key.partition));
    ck_assert(str_equal(got->intent.key.row, sent.key.row));
    ck_assert_int_eq(got->deliveries, 1);

    ck_assert_int_eq(queue_acknowledge(queue, got, 1, NULL), STATUS_OK);
    check_state(0, 0);
}
END_TEST

START_TEST(keys_may_hold_any_bytes)
{
    static const char bytes[] = "a\0b\r\n$5\r\n\xff\xf0\x9f\x98\x80 '\"";
    struct intent sent = an_intent(1, "");
    struct queue_message *got;

    sent.key.partition = str_of_bytes(bytes, sizeof(bytes) - 1);
    publish(&sent, 1);
    got = claim(queue, 10, 1);

    ck_assert(str_equal(got->intent.key.partition, sent.key.partition));
    ck_assert_uint_eq(got->intent.key.row.len, 0);
}
END_TEST

START_TEST(a_claim_is_hidden_from_the_others_and_bounded)
{
    publish_rows(5);

    claim(queue, 3, 3);
    claim(other, 3, 2);
    claim(other, 3, 0);
    check_state(5, 5);
}
END_TEST

START_TEST(a_silent_consumers_message_is_delivered_again_and_counted)
{
    publish_rows(1);
    claim(queue, 10, 1);

    reclaim(other, 3600 * 1000, 0);
    ck_assert_int_eq(reclaim(other, 0, 1)->deliveries, 2);
    ck_assert_int_eq(reclaim(queue, 0, 1)->deliveries, 3);
}
END_TEST

START_TEST(reclaiming_goes_on_where_it_stopped)
{
    struct queue_message *messages;
    size_t count, total = 0;

    publish_rows(50);
    claim(queue, 100, 50);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(queue_reclaim(other, &(struct queue_take){ .max_count = 10, .arena = &arena },
                             &messages, &count, NULL),
            STATUS_OK);
        total += count;
        ck_assert_int_eq(queue_acknowledge(other, messages, count, NULL), STATUS_OK);
    }

    ck_assert_uint_eq(total, 50);
    check_state(0, 0);
}
END_TEST

/* The first look has stopped in the middle, and what is handed back lies before that place. */
START_TEST(what_was_handed_back_is_found_at_once_wherever_reclaiming_has_stopped)
{
    const struct queue_take few = { .max_count = 4, .idle_ms = 1000, .arena = &arena };
    struct queue_message *messages;
    size_t count = 0;

    publish_rows(10);
    ck_assert_int_eq(queue_release(queue, claim(queue, 10, 10), 10, NULL), STATUS_OK);
    ck_assert_int_eq(queue_reclaim(other, &few, &messages, &count, NULL), STATUS_OK);
    ck_assert_uint_eq(count, 4);
    ck_assert_int_eq(queue_release(other, messages, count, NULL), STATUS_OK);

    reclaim(other, 1000, 10);
}
END_TEST

START_TEST(handing_back_is_not_counted)
{
    struct queue_message *got;

    publish_rows(2);
    got = claim(queue, 10, 2);
    ck_assert_int_eq(queue_release(queue, got, 2, NULL), STATUS_OK);

    got = reclaim(other, 60 * 1000, 2);
    ck_assert_int_eq(got[0].deliveries, 1);
    ck_assert_int_eq(got[1].deliveries, 1);
    check_state(2, 2);
}
END_TEST

START_TEST(what_was_handed_back_is_counted_until_it_is_claimed)
{
    struct queue_message *got;

    publish_rows(3);
    got = claim(queue, 10, 3);
    ck_assert_int_eq(inspect().released, 0);

    ck_assert_int_eq(queue_release(queue, got, 2, NULL), STATUS_OK);

    check_state(3, 3);
    ck_assert_int_eq(inspect().released, 2);
    reclaim(other, 60 * 1000, 2);
    ck_assert_int_eq(inspect().released, 0);
}
END_TEST

static void pretend_idle(const struct queue_message *message, const char *consumer)
{
    redis_server_command(&server, "EVAL",
        "return #redis.call('XCLAIM', KEYS[1], 'workers', ARGV[1], 0, ARGV[2], 'IDLE', 60000, 'JUSTID')", "1",
        "tavola:{q0}:intents", consumer, message->entry_id, NULL);
}

START_TEST(what_is_renewed_stays_hidden_and_is_not_counted)
{
    struct queue_message *got;

    publish_rows(2);
    got = claim(queue, 10, 2);
    pretend_idle(&got[0], "one");
    pretend_idle(&got[1], "one");
    ck_assert_int_eq(queue_renew(other, STR_LITERAL("one"), got, 1, NULL), STATUS_OK);

    ck_assert_str_eq(reclaim(other, 50 * 1000, 1)->entry_id, got[1].entry_id);
    ck_assert_int_eq(reclaim(other, 0, 2)->deliveries, 2);
}
END_TEST

START_TEST(only_what_is_still_in_hand_is_renewed)
{
    struct queue_message *got;

    publish_rows(3);
    got = claim(queue, 10, 3);
    pretend_idle(&got[0], "two");
    ck_assert_int_eq(queue_release(queue, &got[1], 1, NULL), STATUS_OK);
    ck_assert_int_eq(queue_acknowledge(queue, &got[2], 1, NULL), STATUS_OK);
    ck_assert_int_eq(queue_renew(queue, STR_LITERAL("one"), got, 3, NULL), STATUS_OK);

    reclaim(other, 50 * 1000, 2);
    check_state(2, 2);
}
END_TEST

START_TEST(a_message_that_was_taken_away_is_not_acknowledged_into_a_crash)
{
    struct queue_message *got;

    publish_rows(1);
    got = claim(queue, 10, 1);
    redis_server_command(&server, "XTRIM", "tavola:{q0}:intents", "MAXLEN", "0", NULL);

    reclaim(other, 0, 0);
    check_state(0, 0);
    ck_assert_int_eq(queue_acknowledge(queue, got, 1, NULL), STATUS_OK);
    ck_assert_int_eq(queue_release(queue, got, 1, NULL), STATUS_OK);
}
END_TEST

START_TEST(what_cannot_be_read_is_removed)
{
    static const char *const stream = "tavola:{q0}:intents";

    redis_server_command(&server, "XADD", stream, "*", "v", "9", "x", "y", NULL);
    redis_server_command(&server, "XADD", stream, "*", "v", "1", "b", "70000", "i", "0", "k", "1", "t", "1",
        "p", "p", "r", "r", NULL);
    publish_rows(1);

    claim(queue, 10, 1);
    check_state(1, 1);
}
END_TEST

START_TEST(publishing_stops_at_the_cap)
{
    struct queue *small = open_queue(NULL, 1, 3);
    struct intent intents[5];
    size_t published = 0;

    for (int i = 0; i < 5; i++)
        intents[i] = an_intent(i, "r");
    ck_assert_int_eq(queue_publish(small, intents, 5, &published, NULL), STATUS_OK);

    ck_assert_uint_eq(published, 3);
    check_state(3, 0);
    queue_close(small);
}
END_TEST

START_TEST(a_stream_without_new_messages_expires)
{
    publish_rows(1);
    ck_assert_int_gt(redis_server_command(&server, "TTL", "tavola:{q0}:intents", NULL), 80000);
}
END_TEST

START_TEST(what_is_acknowledged_later_goes_with_the_next_claim)
{
    struct queue_message *got;

    publish_rows(3);
    got = claim(queue, 2, 2);
    queue_acknowledge_later(queue, got, 1);
    queue_acknowledge_later(queue, &got[1], 1);
    check_state(3, 2);
    claim(queue, 1, 1);
    check_state(1, 1);
    claim(queue, 1, 0); /* nothing is acknowledged twice */
    check_state(1, 1);
}
END_TEST

START_TEST(what_is_acknowledged_later_can_be_flushed_and_goes_with_a_reclaim)
{
    struct queue_message *got;

    publish_rows(2);
    got = claim(queue, 2, 2);
    queue_acknowledge_later(queue, got, 1);
    queue_flush(queue);
    check_state(1, 1);
    queue_acknowledge_later(queue, &got[1], 1);
    reclaim(queue, 0, 0);
    check_state(0, 0);
    queue_flush(queue);
    ck_assert_int_eq(queue_acknowledged(queue, NULL), STATUS_OK);
}
END_TEST

START_TEST(what_was_not_acknowledged_in_time_comes_back)
{
    struct queue_message *got, *messages;
    struct error err = { 0 };
    size_t count;

    publish_rows(2);
    got = claim(queue, 2, 2);
    queue_acknowledge_later(queue, got, 2);
    redis_server_command(&server, "CONFIG", "SET", "min-replicas-to-write", "1", NULL);
    ck_assert_int_eq(
        queue_claim(queue, &(struct queue_take){ .max_count = 1, .arena = &arena }, &messages, &count, NULL),
        STATUS_UNAVAILABLE);
    redis_server_command(&server, "CONFIG", "SET", "min-replicas-to-write", "0", NULL);
    ck_assert_int_eq(queue_acknowledged(queue, &err), STATUS_UNAVAILABLE);
    ck_assert_uint_gt(strlen(err.message), 0);
    ck_assert_int_eq(queue_acknowledged(queue, NULL), STATUS_OK);
    reclaim(other, 0, 2);
}
END_TEST

START_TEST(a_flush_in_the_middle_loses_messages_and_nothing_else)
{
    struct queue_message *got;

    publish_rows(3);
    got = claim(queue, 2, 2);
    ck_assert_int_eq(queue_set_epoch(queue, NULL), STATUS_OK);
    ck_assert(inspect().has_epoch);
    redis_server_command(&server, "FLUSHALL", NULL);

    ck_assert_int_eq(queue_acknowledge(queue, got, 2, NULL), STATUS_OK);
    ck_assert(!inspect().has_epoch);
    claim(queue, 10, 0);
    reclaim(queue, 0, 0);
    publish_rows(1);
    claim(other, 10, 1);
}
END_TEST

START_TEST(a_reclaim_after_a_flush_makes_the_group_anew)
{
    publish_rows(1);
    claim(queue, 1, 1);
    redis_server_command(&server, "FLUSHALL", NULL);

    reclaim(queue, 0, 0);
    publish_rows(1);
    claim(queue, 1, 1);
}
END_TEST

START_TEST(forgotten_scripts_are_sent_again)
{
    struct queue_message *got;

    publish_rows(1);
    redis_server_command(&server, "SCRIPT", "FLUSH", NULL);
    publish_rows(1);
    got = claim(queue, 10, 2);
    redis_server_command(&server, "SCRIPT", "FLUSH", NULL);

    ck_assert_int_eq(queue_acknowledge(queue, got, 2, NULL), STATUS_OK);
    check_state(0, 0);
}
END_TEST

START_TEST(a_dead_server_is_unavailable_and_a_new_one_is_found)
{
    struct intent intent = an_intent(1, "r");
    struct queue_message *messages;
    struct error err = { 0 };
    size_t count = 0;

    publish_rows(1);
    ck_assert_int_eq(queue_set_epoch(queue, NULL), STATUS_OK);
    redis_server_kill(&server);
    ck_assert_int_eq(queue_publish(queue, &intent, 1, &count, &err), STATUS_UNAVAILABLE);
    ck_assert_int_eq(
        queue_claim(queue, &(struct queue_take){ .max_count = 10, .arena = &arena }, &messages, &count, &err),
        STATUS_UNAVAILABLE);
    ck_assert_uint_gt(strlen(err.message), 0);

    redis_server_restart(&server);
    wait_until_connected();
    ck_assert(!inspect().has_epoch);
    publish_rows(1);
    claim(queue, 10, 1);
}
END_TEST

START_TEST(an_epoch_ends_with_its_server)
{
    redis_server_command(&server, "SET", "tavola:{q0}:epoch", "of another server", NULL);
    ck_assert(!inspect().has_epoch);
    ck_assert_int_eq(queue_set_epoch(queue, NULL), STATUS_OK);
    ck_assert(inspect().has_epoch);
}
END_TEST

START_TEST(a_full_memory_limits_publishing_only)
{
    struct intent intent = an_intent(1, "r");
    struct error err = { 0 };
    struct queue_message *got;
    struct queue_state state;
    size_t published = 9;

    publish_rows(1);
    got = claim(queue, 10, 1);
    redis_server_command(&server, "CONFIG", "SET", "maxmemory", "1", NULL);

    ck_assert_int_eq(queue_publish(queue, &intent, 1, &published, &err), STATUS_LIMIT);
    ck_assert_uint_eq(published, 0);
    ck_assert_int_eq(queue_inspect(queue, &state, &err), STATUS_LIMIT);
    ck_assert_int_eq(queue_acknowledge(queue, got, 1, &err), STATUS_OK);
    redis_server_command(&server, "CONFIG", "SET", "maxmemory", "0", NULL);
    check_state(0, 0);
}
END_TEST

START_TEST(a_server_that_cannot_write_is_unavailable)
{
    struct intent intent = an_intent(1, "r");
    struct queue_state state;
    struct error err = { 0 };
    size_t published = 0;

    redis_server_command(&server, "CONFIG", "SET", "min-replicas-to-write", "1", NULL);
    ck_assert_int_eq(queue_inspect(other, &state, &err), STATUS_UNAVAILABLE);
    ck_assert_int_eq(queue_publish(queue, &intent, 1, &published, &err), STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(err.message, "NOREPLICAS"));
}
END_TEST

START_TEST(a_key_of_the_wrong_type_is_an_error)
{
    struct intent intent = an_intent(1, "r");
    struct queue_message *messages;
    struct queue_state state;
    struct error err = { 0 };
    size_t count = 0;

    redis_server_command(&server, "SET", "tavola:{q0}:intents", "mine", NULL);
    ck_assert_int_eq(queue_publish(queue, &intent, 1, &count, &err), STATUS_INTERNAL);
    ck_assert_int_eq(
        queue_claim(queue, &(struct queue_take){ .max_count = 10, .arena = &arena }, &messages, &count, &err),
        STATUS_INTERNAL);
    ck_assert_int_eq(queue_reclaim(queue, &(struct queue_take){ .max_count = 10, .arena = &arena }, &messages,
                         &count, &err),
        STATUS_INTERNAL);
    ck_assert_int_eq(queue_inspect(queue, &state, &err), STATUS_INTERNAL);
    ck_assert_ptr_nonnull(strstr(err.message, "WRONGTYPE"));
}
END_TEST

START_TEST(waiting_ends_with_the_first_message_or_the_time)
{
    struct queue_message *messages;
    int64_t start = clock_monotonic_us();
    size_t count = 9;

    ck_assert_int_eq(
        queue_claim(queue, &(struct queue_take){ .max_count = 10, .wait_ms = 50, .arena = &arena }, &messages,
            &count, NULL),
        STATUS_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_ge(clock_monotonic_us() - start, 45 * 1000);

    publish_rows(1);
    ck_assert_int_eq(
        queue_claim(queue, &(struct queue_take){ .max_count = 10, .wait_ms = 60 * 1000, .arena = &arena },
            &messages, &count, NULL),
        STATUS_OK);
    ck_assert_uint_eq(count, 1);
}
END_TEST

static long long forget_consumers(const char *silent_ms)
{
    return redis_server_command(&server, "EVAL", lua_forget_consumers.text, "1", "tavola:{q0}:intents",
        "workers", "one", silent_ms, NULL);
}

START_TEST(only_consumers_without_entries_are_forgotten)
{
    publish_rows(1);
    claim(other, 10, 1);
    claim(queue, 10, 0);
    redis_server_command(
        &server, "XGROUP", "CREATECONSUMER", "tavola:{q0}:intents", "workers", "three", NULL);

    reclaim(queue, 3600 * 1000, 0);
    ck_assert_int_eq(forget_consumers("3600000"), 0);
    ck_assert_int_eq(forget_consumers("-1"), 1);
    ck_assert_int_eq(reclaim(queue, 0, 1)->deliveries, 2);
}
END_TEST

START_TEST(every_shard_is_served)
{
    struct intent intents[40];
    int seen[4] = { 0 };
    struct queue_message *got;

    for (int i = 0; i < 40; i++)
        intents[i] = an_intent(i, "r");
    ck_assert_uint_eq(publish(intents, 40), 40);
    check_state(40, 0);

    got = claim(queue, 40, 40);
    for (int i = 0; i < 40; i++) {
        ck_assert_int_eq(got[i].shard, got[i].intent.bucket % 4);
        seen[got[i].shard]++;
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(seen[i], 10);
    ck_assert_int_eq(queue_acknowledge(queue, got, 40, NULL), STATUS_OK);
    check_state(0, 0);
}
END_TEST

START_TEST(a_shard_that_cannot_be_read_does_not_hold_up_the_others)
{
    struct intent intent = an_intent(1, "r");

    for (int i = 0; i < 3; i++) {
        publish(&intent, 1);
        redis_server_command(&server, "SET", "tavola:{q0}:intents", "mine", NULL);
        ck_assert_int_eq(claim(queue, 8, 1)->shard, 1);
    }
}
END_TEST

START_TEST(a_claim_is_filled_up_from_the_shard_that_has_more)
{
    struct intent intents[20];

    for (int i = 0; i < 20; i++)
        intents[i] = an_intent(4 * i + 2, "r");
    publish(intents, 20);

    claim(queue, 16, 16);
    claim(queue, 16, 4);
}
END_TEST

START_TEST(a_claim_of_one_finds_the_one_shard_with_work)
{
    struct intent intent = an_intent(3, "r");

    publish(&intent, 1);
    claim(queue, 1, 1);
    publish(&intent, 1);
    claim(queue, 1, 1);
    claim(queue, 1, 0);
}
END_TEST

START_TEST(shards_are_taken_over_and_handed_back)
{
    struct intent intents[8];
    struct queue_message *got;

    for (int i = 0; i < 8; i++)
        intents[i] = an_intent(i, "r");
    publish(intents, 8);
    got = claim(queue, 8, 8);
    ck_assert_int_eq(queue_release(queue, got, 8, NULL), STATUS_OK);

    got = reclaim(other, 60 * 1000, 8);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(got[i].deliveries, 1);
    ck_assert_int_eq(reclaim(queue, 0, 8)->deliveries, 2);
}
END_TEST

START_TEST(the_number_of_shards_changes_and_claimed_messages_are_settled)
{
    struct intent intents[8];
    struct queue_message *got;
    struct queue_state state;

    for (int i = 0; i < 8; i++)
        intents[i] = an_intent(i, "r");
    publish(intents, 8);
    got = claim(queue, 8, 8);
    queue_set_shards(queue, 2);
    ck_assert_int_eq(queue_acknowledge(queue, got, 8, NULL), STATUS_OK);
    publish(intents, 8);
    ck_assert_int_eq(queue_inspect(queue, &state, NULL), STATUS_OK);
    ck_assert_int_eq(state.length, 8);
    queue_set_shards(queue, 7);
    publish(intents, 7);
    claim(queue, 15, 15);
    queue_set_shards(queue, 64);
    ck_assert_int_eq(queue_inspect(queue, &state, NULL), STATUS_OK);
    ck_assert_int_eq(state.length, 15);
}
END_TEST

START_TEST(what_is_acknowledged_later_may_be_of_any_shard)
{
    struct queue_message *got;

    publish_rows(8);
    got = claim(queue, 8, 8);
    queue_acknowledge_later(queue, got, 8);
    queue_set_shards(queue, 1);
    claim(queue, 1, 0);
    queue_set_shards(queue, 4);
    check_state(0, 0);

    publish_rows(8);
    got = claim(queue, 8, 8);
    queue_acknowledge_later(queue, got, 8);
    claim(queue, 1, 0); /* which reads the streams in turns */
    check_state(0, 0);
    ck_assert_int_eq(queue_acknowledged(queue, NULL), STATUS_OK);
}
END_TEST

START_TEST(a_claim_succeeds_beside_an_acknowledgement_that_does_not)
{
    struct intent broken = an_intent(0, "r"), other_shard = an_intent(1, "r");
    struct queue_message *got;
    struct error err = { 0 };
    size_t count = 0;

    ck_assert_uint_eq(publish(&broken, 1), 1);
    got = claim(queue, 1, 1);
    ck_assert_uint_eq(publish(&other_shard, 1), 1);
    redis_server_command(&server, "SET", "tavola:{q0}:intents", "of another type", NULL);
    queue_acknowledge_later(queue, got, 1);
    ck_assert_int_eq(
        queue_claim(queue, &(struct queue_take){ .max_count = 10, .arena = &arena }, &got, &count, NULL),
        STATUS_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(got->intent.bucket, 1);
    ck_assert_int_eq(queue_acknowledged(queue, &err), STATUS_INTERNAL);
    ck_assert_ptr_nonnull(strstr(err.message, "WRONGTYPE"));
}
END_TEST

START_TEST(a_number_of_shards_out_of_range_is_refused)
{
    struct queue_options options = { .redis.url = "unix:/s", .shards = _i };
    struct queue *opened;
    struct error err = { 0 };

    ck_assert_int_eq(queue_open(&options, &opened, &err), STATUS_OUT_OF_RANGE);
}
END_TEST

static TCase *one_shard(void)
{
    TCase *tc = tcase_create("one shard");

    tcase_add_checked_fixture(tc, given_a_queue, the_queue_goes);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, a_message_is_published_claimed_and_acknowledged);
    tcase_add_test(tc, keys_may_hold_any_bytes);
    tcase_add_test(tc, a_claim_is_hidden_from_the_others_and_bounded);
    tcase_add_test(tc, a_silent_consumers_message_is_delivered_again_and_counted);
    tcase_add_test(tc, reclaiming_goes_on_where_it_stopped);
    tcase_add_test(tc, what_was_handed_back_is_found_at_once_wherever_reclaiming_has_stopped);
    tcase_add_test(tc, handing_back_is_not_counted);
    tcase_add_test(tc, what_was_handed_back_is_counted_until_it_is_claimed);
    tcase_add_test(tc, what_is_renewed_stays_hidden_and_is_not_counted);
    tcase_add_test(tc, only_what_is_still_in_hand_is_renewed);
    tcase_add_test(tc, a_message_that_was_taken_away_is_not_acknowledged_into_a_crash);
    tcase_add_test(tc, what_cannot_be_read_is_removed);
    tcase_add_test(tc, publishing_stops_at_the_cap);
    tcase_add_test(tc, a_stream_without_new_messages_expires);
    tcase_add_test(tc, what_is_acknowledged_later_goes_with_the_next_claim);
    tcase_add_test(tc, what_is_acknowledged_later_can_be_flushed_and_goes_with_a_reclaim);
    tcase_add_test(tc, what_was_not_acknowledged_in_time_comes_back);
    tcase_add_test(tc, a_flush_in_the_middle_loses_messages_and_nothing_else);
    tcase_add_test(tc, a_reclaim_after_a_flush_makes_the_group_anew);
    tcase_add_test(tc, forgotten_scripts_are_sent_again);
    tcase_add_test(tc, a_dead_server_is_unavailable_and_a_new_one_is_found);
    tcase_add_test(tc, an_epoch_ends_with_its_server);
    tcase_add_test(tc, a_full_memory_limits_publishing_only);
    tcase_add_test(tc, a_server_that_cannot_write_is_unavailable);
    tcase_add_test(tc, a_key_of_the_wrong_type_is_an_error);
    tcase_add_test(tc, waiting_ends_with_the_first_message_or_the_time);
    tcase_add_test(tc, only_consumers_without_entries_are_forgotten);
    return tc;
}

static TCase *four_shards(void)
{
    TCase *tc = tcase_create("four shards");

    tcase_add_checked_fixture(tc, given_four_shards, the_queue_goes);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, every_shard_is_served);
    tcase_add_test(tc, a_shard_that_cannot_be_read_does_not_hold_up_the_others);
    tcase_add_test(tc, a_claim_is_filled_up_from_the_shard_that_has_more);
    tcase_add_test(tc, a_claim_of_one_finds_the_one_shard_with_work);
    tcase_add_test(tc, shards_are_taken_over_and_handed_back);
    tcase_add_test(tc, the_number_of_shards_changes_and_claimed_messages_are_settled);
    tcase_add_test(tc, what_is_acknowledged_later_may_be_of_any_shard);
    tcase_add_test(tc, a_claim_succeeds_beside_an_acknowledgement_that_does_not);
    return tc;
}

Suite *test_queue_suite(void)
{
    Suite *suite = suite_create("queue");
    TCase *options = tcase_create("options");

    tcase_add_loop_test(options, a_number_of_shards_out_of_range_is_refused, -1, 1);
    suite_add_tcase(suite, options);
    suite_add_tcase(suite, one_shard());
    suite_add_tcase(suite, four_shards());
    return suite;
}
