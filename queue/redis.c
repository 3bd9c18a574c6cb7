/*
 * redis.c - hiredis' synchronous interface with time limits. Scripts are loaded when a connection is made;
 * one that the server has forgotten since (SCRIPT FLUSH) is sent as text.
 */
#include "queue/redis.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base/clock.h"
#include "queue/redis_url.h"

enum {
    TIME_LIMIT_MS = 1000,
    PAUSE_US = 500 * 1000, /* between attempts to connect */
    SHA_BYTES = 41,
    MOST_SCRIPTS = 16,
    FIRST_WORDS = 8,
};

struct redis {
    struct arena arena; /* holds the address */
    struct redis_url url;
    const struct embedded *const *scripts;
    char shas[MOST_SCRIPTS][SHA_BYTES];
    redisContext *connection; /* NULL: not connected */
    int64_t timeout_ms;       /* as set on the connection */
    int64_t next_attempt_us;
    struct error last_failure; /* why there is no connection */
};

/* ---- batches ---- */

void redis_batch_init(struct redis_batch *batch, struct arena *arena, size_t room)
{
    *batch = (struct redis_batch){
        .arena = arena,
        .commands = ARENA_ARRAY(arena, struct redis_command, room),
        .replies = ARENA_ARRAY(arena, redisReply *, room),
        .room = room,
    };
}

static void drop_replies(struct redis_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->replies[i])
            freeReplyObject(batch->replies[i]);
        batch->replies[i] = NULL;
    }
}

void redis_batch_cleanup(struct redis_batch *batch)
{
    drop_replies(batch);
    batch->count = 0;
}

void redis_word(struct redis_command *command, struct str word)
{
    if (command->count == command->room) {
        size_t room = command->room ? command->room * 2 : FIRST_WORDS;
        const char **words = ARENA_ARRAY(command->arena, const char *, room);
        size_t *lens = ARENA_ARRAY(command->arena, size_t, room);

        if (command->count > 0) {
            memcpy(words, command->words, command->count * sizeof(*words));
            memcpy(lens, command->lens, command->count * sizeof(*lens));
        }
        command->words = words;
        command->lens = lens;
        command->room = room;
    }
    command->words[command->count] = word.len > 0 ? word.data : "";
    command->lens[command->count] = word.len;
    command->count++;
}

void redis_word_int(struct redis_command *command, int64_t number)
{
    redis_word(command, arena_format(command->arena, "%lld", (long long)number));
}

struct redis_command *redis_command(struct redis_batch *batch, const char *name)
{
    struct redis_command *command;

    assert(batch->count < batch->room && "a batch takes no more commands than announced");
    command = &batch->commands[batch->count++];
    command->arena = batch->arena;
    redis_word(command, str_of(name));
    return command;
}

struct redis_command *redis_script(struct redis_batch *batch, const struct embedded *script, struct str key)
{
    struct redis_command *command = redis_command(batch, "EVALSHA");

    command->script = script;
    redis_word(command, STR_EMPTY); /* the digest, known when connected */
    redis_word(command, STR_LITERAL("1"));
    redis_word(command, key);
    return command;
}

/* ---- the connection ---- */

static enum status lose_connection(struct redis *redis, const char *what, struct error *err)
{
    const redisContext *connection = redis->connection;
    enum status status;

    if (connection && connection->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK))
        status = error_set(err, STATUS_UNAVAILABLE, "Redis: %s: no answer within the time limit", what);
    else
        status = error_set(err, STATUS_UNAVAILABLE, "Redis: %s: %s", what,
            connection ? connection->errstr : "no memory for a connection");
    redisFree(redis->connection);
    redis->connection = NULL;
    return status;
}

static enum status set_timeout(struct redis *redis, int64_t timeout_ms, struct error *err)
{
    struct timeval limit = { .tv_sec = (time_t)(timeout_ms / 1000),
        .tv_usec = (suseconds_t)(timeout_ms % 1000 * 1000) };

    if (redis->timeout_ms == timeout_ms)
        return STATUS_OK;
    if (redisSetTimeout(redis->connection, limit) != REDIS_OK)
        return lose_connection(redis, "set a time limit", err);
    redis->timeout_ms = timeout_ms;
    return STATUS_OK;
}

/* Send and receive on the connection that is there. */
static enum status exchange(struct redis *redis, struct redis_batch *batch, struct error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct redis_command *command = &batch->commands[i];

        if (redisAppendCommandArgv(redis->connection, (int)command->count, command->words, command->lens) !=
            REDIS_OK)
            return lose_connection(redis, "send", err);
    }
    for (size_t i = 0; i < batch->count; i++) {
        void *reply = NULL;

        if (redisGetReply(redis->connection, &reply) != REDIS_OK || !reply) {
            drop_replies(batch);
            return lose_connection(redis, "receive", err);
        }
        batch->replies[i] = reply;
    }
    return STATUS_OK;
}

/* Log in, choose the database, load the scripts: one pipeline. */
static enum status greet(struct redis *redis, struct error *err)
{
    struct arena arena __attribute__((cleanup(arena_cleanup)));
    REDIS_BATCH batch;
    struct redis_command *command;
    size_t first_script;
    struct str sha;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, MOST_SCRIPTS + 2);
    if (redis->url.password) {
        command = redis_command(&batch, "AUTH");
        if (redis->url.user)
            redis_word(command, str_of(redis->url.user));
        redis_word(command, str_of(redis->url.password));
    }
    if (redis->url.database > 0)
        redis_word_int(redis_command(&batch, "SELECT"), redis->url.database);
    first_script = batch.count;
    for (size_t i = 0; redis->scripts[i]; i++) {
        command = redis_command(&batch, "SCRIPT");
        redis_word(command, STR_LITERAL("LOAD"));
        redis_word(command, str_of(redis->scripts[i]->text));
    }

    TRY(exchange(redis, &batch, err));
    for (size_t i = 0; i < batch.count; i++) {
        TRY(redis_reply_status(batch.replies[i], err));
        if (i >= first_script && redis_reply_str(batch.replies[i], &sha) && sha.len < SHA_BYTES)
            memcpy(redis->shas[i - first_script], sha.data, sha.len);
    }
    return STATUS_OK;
}

static enum status connect_now(struct redis *redis, struct error *err)
{
    const struct timeval limit = { .tv_sec = TIME_LIMIT_MS / 1000 };
    enum status status;

    redis->connection = redis->url.path ? redisConnectUnixWithTimeout(redis->url.path, limit)
                                        : redisConnectWithTimeout(redis->url.host, redis->url.port, limit);
    redis->timeout_ms = -1;
    if (!redis->connection || redis->connection->err)
        return lose_connection(redis, "connect", err);
    TRY(set_timeout(redis, TIME_LIMIT_MS, err));
    status = greet(redis, err);
    if (status != STATUS_OK && redis->connection) {
        redisFree(redis->connection);
        redis->connection = NULL;
    }
    return status;
}

static enum status ensure_connection(struct redis *redis, struct error *err)
{
    enum status status;
    struct error failure = { 0 };

    if (redis->connection)
        return STATUS_OK;
    if (clock_monotonic_us() < redis->next_attempt_us)
        return error_set(err, STATUS_UNAVAILABLE, "%s", redis->last_failure.message);
    status = connect_now(redis, &failure);
    if (status == STATUS_OK)
        return STATUS_OK;

    redis->next_attempt_us = clock_monotonic_us() + PAUSE_US;
    redis->last_failure = failure;
    return error_set(err, STATUS_UNAVAILABLE, "%s", failure.message);
}

enum status redis_open(
    const char *url, const struct embedded *const *scripts, struct redis **out, struct error *err)
{
    struct redis *redis = xcalloc(1, sizeof(*redis));
    enum status status;
    size_t count = 0;

    while (scripts[count])
        count++;
    assert(count <= MOST_SCRIPTS && "there is room for every script's digest");
    redis->scripts = scripts;
    arena_init(&redis->arena);
    status = redis_url_parse(url, &redis->arena, &redis->url, err);
    if (status != STATUS_OK) {
        redis_close(redis);
        return status;
    }
    *out = redis;
    return STATUS_OK;
}

void redis_close(struct redis *redis)
{
    if (!redis)
        return;
    redisFree(redis->connection);
    arena_cleanup(&redis->arena);
    free(redis);
}

/* ---- running a batch ---- */

static const char *script_sha(const struct redis *redis, const struct embedded *script)
{
    for (size_t i = 0; redis->scripts[i]; i++) {
        if (redis->scripts[i] == script)
            return redis->shas[i];
    }
    assert(false && "a script that redis_open was told of");
    return "";
}

/* Whether a reply is the error whose first word this is. */
bool redis_reply_is_error(const redisReply *reply, const char *code)
{
    struct str text = str_of_bytes(reply->str, reply->len);
    size_t len = strlen(code);

    return reply->type == REDIS_REPLY_ERROR && str_starts_with(text, str_of(code)) &&
           (text.len == len || text.data[len] == ' ');
}

/* Calls of scripts that the server does not know are sent once more, with their text. */
static enum status run_forgotten_scripts(struct redis *redis, struct redis_batch *batch, struct error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct redis_command *command = &batch->commands[i];
        void *reply = NULL;

        if (!command->script || !redis_reply_is_error(batch->replies[i], "NOSCRIPT"))
            continue;
        command->words[0] = "EVAL";
        command->lens[0] = 4;
        command->words[1] = command->script->text;
        command->lens[1] = strlen(command->script->text);
        if (redisAppendCommandArgv(redis->connection, (int)command->count, command->words, command->lens) !=
                REDIS_OK ||
            redisGetReply(redis->connection, &reply) != REDIS_OK || !reply) {
            drop_replies(batch);
            return lose_connection(redis, "run a script", err);
        }
        freeReplyObject(batch->replies[i]);
        batch->replies[i] = reply;
    }
    return STATUS_OK;
}

enum status redis_run(struct redis *redis, struct redis_batch *batch, int64_t wait_ms, struct error *err)
{
    if (batch->count == 0)
        return STATUS_OK;
    TRY(ensure_connection(redis, err));
    TRY(set_timeout(redis, TIME_LIMIT_MS + wait_ms, err));
    for (size_t i = 0; i < batch->count; i++) {
        struct redis_command *command = &batch->commands[i];

        if (!command->script)
            continue;
        command->words[1] = script_sha(redis, command->script);
        command->lens[1] = strlen(command->words[1]);
    }
    TRY(exchange(redis, batch, err));
    return run_forgotten_scripts(redis, batch, err);
}

/* ---- replies ---- */

static const struct error_row {
    const char *code;
    enum status status;
} error_rows[] = {
    { "OOM", STATUS_LIMIT },
    { "NOGROUP", STATUS_PRECONDITION },
    { "UNBLOCKED", STATUS_PRECONDITION }, /* the stream was deleted while we waited for it */
    { "LOADING", STATUS_UNAVAILABLE },
    { "READONLY", STATUS_UNAVAILABLE },
    { "NOREPLICAS", STATUS_UNAVAILABLE },
    { "MASTERDOWN", STATUS_UNAVAILABLE },
    { "CLUSTERDOWN", STATUS_UNAVAILABLE },
    { "TRYAGAIN", STATUS_UNAVAILABLE },
    { "MISCONF", STATUS_UNAVAILABLE }, /* its disk is full or broken */
    { "BUSY", STATUS_UNAVAILABLE },
    { "NOAUTH", STATUS_UNAVAILABLE },
    { "WRONGPASS", STATUS_UNAVAILABLE },
};

enum status redis_reply_status(const redisReply *reply, struct error *err)
{
    if (reply->type != REDIS_REPLY_ERROR)
        return STATUS_OK;
    for (size_t i = 0; i < ARRAY_LEN(error_rows); i++) {
        if (redis_reply_is_error(reply, error_rows[i].code))
            return error_set(err, error_rows[i].status, "Redis: %.*s", (int)reply->len, reply->str);
    }
    return error_set(err, STATUS_INTERNAL, "Redis: %.*s", (int)reply->len, reply->str);
}

bool redis_reply_int(const redisReply *reply, int64_t *out)
{
    if (reply->type != REDIS_REPLY_INTEGER)
        return false;
    *out = reply->integer;
    return true;
}

bool redis_reply_str(const redisReply *reply, struct str *out)
{
    if (reply->type != REDIS_REPLY_STRING && reply->type != REDIS_REPLY_STATUS)
        return false;
    *out = str_of_bytes(reply->str, reply->len);
    return true;
}

bool redis_reply_array(const redisReply *reply, size_t least)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements >= least;
}
