/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_load.c - messages through Redis: published, claimed, acknowledged, in groups of 64.
 *
 *   bench_queue_load raw   SECONDS    bare stream commands in pipelines: the ceiling
 *   bench_queue_load queue SECONDS    our queue, as servers and workers use it
 *
 * Redis is TAVOLA_REDIS. Both take what they published before they publish more. Prints one line: messages seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "bench/common.h"
#include "queue/queue.h"

#define UNIX_PREFIX "unix:"
#define STREAM "bench"

enum { GROUP = 64, WAIT_MS = 1000, SHARDS = 4, MAX_MESSAGES = 1000000 };

static double now(void)
{
    struct timespec moment;

    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec + (double)moment.tv_nsec / 1e9;
}

/* ---- bare commands ---- */

static redisReply *reply_of(redisContext *redis)
{
    void *reply = NULL;

    require(redisGetReply(redis, &reply) == REDIS_OK, "Redis does not answer");
    require(((redisReply *)reply)->type != REDIS_REPLY_ERROR, ((redisReply *)reply)->str);
    return reply;
}

static void skip_replies(redisContext *redis, int count)
{
    for (int i = 0; i < count; i++)
        freeReplyObject(reply_of(redis));
}

/* A command on the entries that were read. */
static void append_for(redisContext *redis, const char *const *words, int count, const redisReply *entries)
{
    const char *arguments[GROUP + 4];

    for (int i = 0; i < count; i++)
        arguments[i] = words[i];
    for (size_t i = 0; i < GROUP; i++)
        arguments[count++] = entries->element[i]->element[0]->str;
    redisAppendCommandArgv(redis, count, arguments, NULL);
}

/* Read what was published, then acknowledge and delete all of it. */
static void raw_take(redisContext *redis)
{
    static const char *const acknowledge[] = { "XACK", STREAM, "g" }, *const delete[] = { "XDEL", STREAM };
    redisReply *reply, *entries;

    redisAppendCommand(redis, "XREADGROUP GROUP g c COUNT %d STREAMS " STREAM " >", GROUP);
    reply = reply_of(redis);
    require(reply->type == REDIS_REPLY_ARRAY, "the stream is empty");
    entries = reply->element[0]->element[1];
    require(entries->elements == GROUP, "messages are missing");
    append_for(redis, acknowledge, 3, entries);
    append_for(redis, delete, 2, entries);
    freeReplyObject(reply);
    skip_replies(redis, 2);
}

static void *raw_open(const char *address)
{
    redisContext *redis;

    require(strncmp(address, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0, "TAVOLA_REDIS is not a Unix socket");
    redis = redisConnectUnix(address + strlen(UNIX_PREFIX));
    require(redis && redis->err == 0, "cannot connect to Redis");
    redisAppendCommand(redis, "DEL " STREAM);
    redisAppendCommand(redis, "XGROUP CREATE " STREAM " g $ MKSTREAM");
    skip_replies(redis, 2);
    return redis;
}

static void raw_turn(void *state)
{
    redisContext *redis = state;

    for (int i = 0; i < GROUP; i++) {
        char value[128];

        snprintf(value, sizeof(value), "%d %032d 1 7 7 p100000r%08d", i, i, i);
        redisAppendCommand(redis, "XADD " STREAM " * v2 %s", value);
    }
    skip_replies(redis, GROUP);
    raw_take(redis);
}

static void raw_close(void *state)
{
    redisFree(state);
}

/* ---- Tavola's queue ---- */

static void *queue_begin(const char *address)
{
    struct queue_options options = {
        .redis.url = address, .consumer = "bench", .shards = SHARDS, .max_messages = MAX_MESSAGES
    };
    struct error err = { 0 };
    struct queue *queue = NULL;

    require(queue_open(&options, &queue, &err) == STATUS_OK, err.message);
    return queue;
}

static void queue_turn(void *state)
{
    struct intent intents[GROUP] = { 0 };
    struct queue_message *messages;
    struct error err = { 0 };
    struct arena arena;
    size_t published, count, taken = 0;

    arena_init(&arena);
    for (int i = 0; i < GROUP; i++) {
        struct intent *intent = &intents[i];

        *intent = (struct intent){ .bucket = (int16_t)i,
            .id = intent_id_of(0, 0, (uint32_t)i),
            .kind = INTENT_RECONCILE,
            .table_id = 7,
            .key = { str_of("p100000"), arena_format(&arena, "r%08d", i) } };
    }
    require(queue_publish(state, intents, GROUP, &published, &err) == STATUS_OK, err.message);
    require(published == GROUP, "messages were not published");
    while (taken < GROUP) {
        require(queue_claim(state,
                    &(struct queue_take){ .max_count = GROUP, .wait_ms = WAIT_MS, .arena = &arena },
                    &messages, &count, &err) == STATUS_OK,
            err.message);
        require(count > 0, "messages are missing");
        require(queue_acknowledge(state, messages, count, &err) == STATUS_OK, err.message);
        taken += count;
    }
    arena_cleanup(&arena);
}

static void queue_end(void *state)
{
    queue_close(state);
}

/* ---- the run ---- */

static const struct mode {
    const char *name;
    void *(*open)(const char *address);
    void (*turn)(void *state);
    void (*close)(void *state);
} modes[] = {
    { "raw", raw_open, raw_turn, raw_close },
    { "queue", queue_begin, queue_turn, queue_end },
};

static void run(const struct mode *mode, double seconds)
{
    const char *address = getenv("TAVOLA_REDIS");
    void *state;
    double began, took;
    long messages = 0;

    require(address != NULL, "TAVOLA_REDIS is not set");
    state = mode->open(address);
    began = now();
    while ((took = now() - began) < seconds) {
        mode->turn(state);
        messages += GROUP;
    }
    mode->close(state);
    printf("messages %ld seconds %.4f\n", messages, took);
}

int main(int argc, char **argv)
{
    require(argc == 3, "needs raw|queue SECONDS");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(modes[i].name, argv[1]) == 0) {
            run(&modes[i], strtod(argv[2], NULL));
            return 0;
        }
    }
    require(false, "there is no such mode");
    return 1;
}
