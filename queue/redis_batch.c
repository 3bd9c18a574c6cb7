/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_batch.c - builds commands and reads replies. No I/O.
 */
#include "queue/redis.h"

#include <assert.h>

enum { FIRST_WORDS = 8 };

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

void redis_batch_drop_replies(struct redis_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->replies[i])
            freeReplyObject(batch->replies[i]);
        batch->replies[i] = NULL;
    }
}

void redis_batch_cleanup(struct redis_batch *batch)
{
    redis_batch_drop_replies(batch);
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

    assert(batch->count < batch->room && "redis_batch_init was given room for every command");
    command = &batch->commands[batch->count++];
    command->arena = batch->arena;
    redis_word(command, str_of(name));
    return command;
}

struct redis_command *redis_script(
    struct redis_batch *batch, const struct embedded *script, const struct str *keys, size_t key_count)
{
    struct redis_command *command = redis_command(batch, "EVALSHA");

    command->script = script;
    redis_word(command, STR_EMPTY); /* redis_run fills in the digest */
    redis_word_int(command, (int64_t)key_count);
    for (size_t i = 0; i < key_count; i++)
        redis_word(command, keys[i]);
    return command;
}

/* ---- replies ---- */

bool redis_reply_is_error(const redisReply *reply, const char *code)
{
    struct str text = str_of_bytes(reply->str, reply->len);
    size_t len = strlen(code);

    return reply->type == REDIS_REPLY_ERROR && str_starts_with(text, str_of(code)) &&
           (text.len == len || text.data[len] == ' ');
}

static const struct error_row {
    const char *code;
    enum status status;
} error_rows[] = {
    { "OOM", STATUS_LIMIT },
    { "NOGROUP", STATUS_PRECONDITION },
    { "UNBLOCKED", STATUS_PRECONDITION }, /* the stream was deleted while XREADGROUP waited */
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

bool redis_reply_array(const redisReply *reply, size_t min)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements >= min;
}
