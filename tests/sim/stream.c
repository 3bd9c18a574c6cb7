/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - replaces queue/: a Redis stream with its consumer group that is flushed, cannot be reached, loses
 * replies, and delivers messages twice and in any order.
 */
#include <string.h>

#include "queue/queue.h"
#include "tests/sim/sim.h"

enum { MAX_MESSAGES = 64 };

static struct message {
    bool there;
    struct intent intent;
    int holder; /* the actor that claimed it; NONE: not claimed */
    int64_t claimed_us, deliveries;
    uint32_t id;
} messages[MAX_MESSAGES];

/* What each actor acknowledges with its next claim. */
static struct {
    uint32_t ids[MAX_MESSAGES];
    size_t count;
} later[ACTORS];

static uint32_t last_id;
static bool has_epoch;
static int64_t away_until_us;

void stream_begin(void)
{
    memset(messages, 0, sizeof(messages));
    memset(later, 0, sizeof(later));
    last_id = 0;
    has_epoch = false;
    away_until_us = 0;
}

void stream_actor_died(int actor)
{
    later[actor].count = 0;
}

void stream_flush(void)
{
    memset(messages, 0, sizeof(messages));
    has_epoch = false;
}

void stream_outage(int64_t us)
{
    away_until_us = sim_now_us() + us;
}

static enum status reach_redis(const char *what, struct error *err)
{
    sim_point(what);
    if (sim_now_us() < away_until_us)
        return error_set(err, STATUS_UNAVAILABLE, "redis cannot be reached");
    return STATUS_OK;
}

/* The reply may be lost although the command has run. */
static enum status reply_or_loss(struct error *err)
{
    return sim_chance(5) ? error_set(err, STATUS_UNAVAILABLE, "the answer was lost") : STATUS_OK;
}

static void add_message(const struct intent *intent)
{
    for (int i = 0; i < MAX_MESSAGES; i++) {
        if (messages[i].there)
            continue;
        messages[i] = (struct message){ .there = true, .intent = *intent, .holder = NONE, .id = ++last_id };
        return;
    }
}

void queue_set_shards(struct queue *queue, int shards)
{
    (void)queue, (void)shards;
}

enum status queue_publish(
    struct queue *queue, const struct intent *intents, size_t count, size_t *published, struct error *err)
{
    (void)queue;
    TRY(reach_redis("publish", err));
    for (size_t i = 0; i < count; i++)
        add_message(&intents[i]);
    *published = count;
    return reply_or_loss(err);
}

static bool is_wanted(const struct message *message, int64_t idle_us)
{
    if (!message->there)
        return false;
    if (idle_us < 0)
        return message->holder == NONE;
    return message->holder != NONE && sim_now_us() - message->claimed_us >= idle_us;
}

/* Begins at a random message, because no work may rely on the order. */
static size_t claim_messages(size_t max, int64_t idle_us, struct arena *arena, struct queue_message **out)
{
    uint32_t start = sim_pick(MAX_MESSAGES);
    size_t count = 0;

    *out = ARENA_ARRAY(arena, struct queue_message, max);
    for (uint32_t i = 0; i < MAX_MESSAGES && count < max; i++) {
        struct message *message = &messages[(start + i) % MAX_MESSAGES];

        if (!is_wanted(message, idle_us))
            continue;
        message->holder = sim_actor();
        message->claimed_us = sim_now_us();
        message->deliveries++;
        (*out)[count] =
            (struct queue_message){ .intent = message->intent, .deliveries = message->deliveries };
        memcpy((*out)[count++].entry_id, &message->id, sizeof(message->id));
    }
    return count;
}

static struct message *find_id(uint32_t id)
{
    for (int i = 0; i < MAX_MESSAGES; i++) {
        if (messages[i].there && messages[i].id == id)
            return &messages[i];
    }
    return NULL;
}

static struct message *find_message(const struct queue_message *given)
{
    uint32_t id;

    memcpy(&id, given->entry_id, sizeof(id));
    return find_id(id);
}

void queue_acknowledge_later(struct queue *queue, const struct queue_message *given, size_t count)
{
    (void)queue;
    for (size_t i = 0; i < count; i++)
        memcpy(&later[sim_actor()].ids[later[sim_actor()].count++], given[i].entry_id, sizeof(uint32_t));
}

/* Redis has the actor's pipeline. */
static void acknowledge_now(void)
{
    for (size_t i = 0; i < later[sim_actor()].count; i++) {
        struct message *message = find_id(later[sim_actor()].ids[i]);

        if (message)
            message->there = false;
    }
}

void queue_flush(struct queue *queue)
{
    (void)queue;
    if (later[sim_actor()].count > 0 && reach_redis("acknowledge", NULL) == STATUS_OK)
        acknowledge_now();
    later[sim_actor()].count = 0;
}

enum status queue_acknowledged(struct queue *queue, struct error *err)
{
    (void)queue, (void)err;
    return STATUS_OK;
}

enum status queue_claim(struct queue *queue, const struct queue_take *request, struct queue_message **out,
    size_t *count, struct error *err)
{
    int64_t until_us = sim_now_us() + request->wait_ms * 1000;

    (void)queue;
    do {
        enum status status = reach_redis("claim", err);

        if (status == STATUS_OK)
            acknowledge_now();
        later[sim_actor()].count = 0;
        TRY(status);
        *count = claim_messages(request->max_count, -1, request->arena, out);
        if (*count == 0 && sim_now_us() < until_us)
            sim_wait(request->wait_ms * 500);
    } while (*count == 0 && sim_now_us() < until_us);
    return reply_or_loss(err);
}

enum status queue_reclaim(struct queue *queue, const struct queue_take *request, struct queue_message **out,
    size_t *count, struct error *err)
{
    queue_flush(queue);
    TRY(reach_redis("reclaim", err));
    *count = claim_messages(request->max_count, request->idle_ms * 1000, request->arena, out);
    return reply_or_loss(err);
}

enum status queue_acknowledge(
    struct queue *queue, const struct queue_message *given, size_t count, struct error *err)
{
    (void)queue;
    TRY(reach_redis("acknowledge", err));
    for (size_t i = 0; i < count; i++) {
        struct message *message = find_message(&given[i]);

        if (message)
            message->there = false;
    }
    return reply_or_loss(err);
}

enum status queue_release(
    struct queue *queue, const struct queue_message *given, size_t count, struct error *err)
{
    (void)queue;
    TRY(reach_redis("release", err));
    for (size_t i = 0; i < count; i++) {
        struct message *message = find_message(&given[i]);

        if (message) {
            message->holder = NONE;
            message->deliveries--;
        }
    }
    return reply_or_loss(err);
}

enum status queue_inspect(struct queue *queue, struct queue_state *out, struct error *err)
{
    (void)queue;
    TRY(reach_redis("inspect", err));
    *out = (struct queue_state){ .has_epoch = has_epoch };
    for (int i = 0; i < MAX_MESSAGES; i++) {
        out->length += messages[i].there;
        out->pending += messages[i].there && messages[i].holder != NONE;
    }
    return STATUS_OK;
}

enum status queue_set_epoch(struct queue *queue, struct error *err)
{
    (void)queue;
    TRY(reach_redis("set epoch", err));
    has_epoch = true;
    return STATUS_OK;
}
