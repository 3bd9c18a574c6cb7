/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - Redis streams, one per shard, each with the consumer group "workers": publish, settle,
 * inspect. Claiming is in queue_claim.c.
 */
#include "queue/queue.h"

#include <assert.h>
#include <stdlib.h>

#include "domain/reason.h"
#include "queue/lua.h"
#include "queue/message.h"
#include "queue/queue_state.h"

enum {
    PUBLISH_CHUNK = 256, /* messages per call of the script, which blocks Redis */
    /*
     * A message joins unread ones in the stream while these would cost less than that, if each cost as
     * much as it does; otherwise it waits for its turn. In units of intent_cost.
     */
    MAX_UNREAD_COST = 64,
    MAX_RELEASED = 1024,     /* of a shard that are counted: as many as the largest claim takes */
    ACKNOWLEDGE_CHUNK = 512, /* entries per call of the script */
    PRETENDED_IDLE_MS = 24 * 3600 * 1000, /* longer than any visibility timeout */
};

const struct str queue_group = { .data = "workers", .len = 7 };

static const char *const key_names[SHARD_KEYS] = { [KEY_STREAM] = "intents",
    [KEY_WAITING] = "waiting",
    [KEY_TURNS] = "turns",
    [KEY_EPOCH] = "epoch",
    [KEY_PROBE] = "probe" };

enum status queue_open(const struct queue_options *options, struct queue **out, struct error *err)
{
    struct queue *queue;
    enum status status;

    if (options->shards < 1 || options->shards > QUEUE_MAX_SHARDS)
        return reason_set(err, REASON_OUT_OF_RANGE_INPUT, "queue shards: %d; allowed: 1 to %d",
            options->shards, QUEUE_MAX_SHARDS);
    queue = xcalloc(1, sizeof(*queue));
    arena_init(&queue->arena);
    status = redis_open(&options->redis, lua_all, &queue->redis, err);
    if (status != STATUS_OK) {
        queue_close(queue);
        return status;
    }
    if (options->consumer)
        queue->consumer = arena_copy(&queue->arena, str_of(options->consumer));
    queue->max_messages = options->max_messages;
    queue_set_shards(queue, options->shards);
    for (size_t i = 0; i < QUEUE_MAX_SHARDS; i++) {
        for (size_t key = 0; key < SHARD_KEYS; key++)
            queue->shards[i].keys[key] = arena_format(&queue->arena, "tavola:{q%zu}:%s", i, key_names[key]);
        memcpy(queue->shards[i].cursor, FIRST_ENTRY, sizeof(FIRST_ENTRY));
    }
    *out = queue;
    return STATUS_OK;
}

void queue_close(struct queue *queue)
{
    if (!queue)
        return;
    redis_close(queue->redis);
    free(queue->later.messages);
    arena_cleanup(&queue->arena);
    free(queue);
}

void queue_set_shards(struct queue *queue, int shards)
{
    assert(shards >= 1 && shards <= QUEUE_MAX_SHARDS);
    queue->shard_count = (size_t)shards;
    queue->next_shard %= queue->shard_count;
}

struct redis_command *queue_script(
    struct queue *queue, size_t shard, const struct embedded *script, struct redis_batch *batch)
{
    return redis_script(batch, script, queue->shards[shard].keys, SCRIPT_KEYS);
}

enum status queue_unexpected(struct error *err, const char *command)
{
    return error_set(err, STATUS_INTERNAL, "Redis: %s: the reply has not the expected form", command);
}

/* ---- publish ---- */

static struct redis_command *begin_publish_command(
    struct queue *queue, struct redis_batch *batch, size_t shard)
{
    struct redis_command *command = queue_script(queue, shard, &lua_publish, batch);

    redis_word_int(command, queue->max_messages);
    redis_word(command, queue_group);
    redis_word_int(command, MAX_UNREAD_COST);
    return command;
}

enum status queue_publish(
    struct queue *queue, const struct intent *intents, size_t count, size_t *published, struct error *err)
{
    struct redis_command *open[QUEUE_MAX_SHARDS] = { NULL };
    size_t filled[QUEUE_MAX_SHARDS] = { 0 };
    enum status first = STATUS_OK;
    size_t added = 0;
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, queue->shard_count + count / PUBLISH_CHUNK);
    for (size_t i = 0; i < count; i++) {
        size_t shard = (size_t)intents[i].bucket % queue->shard_count;

        if (!open[shard] || filled[shard] == PUBLISH_CHUNK) {
            open[shard] = begin_publish_command(queue, &batch, shard);
            filled[shard] = 0;
        }
        redis_word(open[shard], intent_account(&intents[i]));
        redis_word_int(open[shard], intent_cost(&intents[i]));
        redis_word_int(open[shard], intent_debt(&intents[i]));
        message_encode(&intents[i], open[shard]);
        filled[shard]++;
    }

    TRY(redis_run(queue->redis, &batch, 0, err));
    for (size_t i = 0; i < batch.count; i++) {
        enum status status = redis_reply_status(batch.replies[i], first == STATUS_OK ? err : NULL);
        int64_t number = 0;

        if (status == STATUS_OK && !redis_reply_int(batch.replies[i], &number))
            status = queue_unexpected(first == STATUS_OK ? err : NULL, "publish");
        if (first == STATUS_OK)
            first = status;
        added += (size_t)number;
    }
    *published = added;
    return first;
}

/* ---- acknowledge, release, renew ---- */

enum settle_kind { ACKNOWLEDGE, RELEASE, RENEW };

static const struct embedded *const settle_scripts[] = {
    [ACKNOWLEDGE] = &lua_acknowledge, [RELEASE] = &lua_release, [RENEW] = &lua_renew
};

static struct redis_command *begin_settle_command(
    struct queue *queue, struct str consumer, struct redis_batch *batch, enum settle_kind kind, size_t shard)
{
    struct redis_command *command = queue_script(queue, shard, settle_scripts[kind], batch);

    redis_word(command, queue_group);
    if (kind != ACKNOWLEDGE) {
        redis_word(command, consumer);
        redis_word_int(command, PRETENDED_IDLE_MS);
    }
    return command;
}

static size_t settle_room(size_t count)
{
    return QUEUE_MAX_SHARDS + count / ACKNOWLEDGE_CHUNK;
}

static void write_settle_commands(struct queue *queue, struct str consumer, enum settle_kind kind,
    const struct queue_message *messages, size_t count, struct redis_batch *batch)
{
    struct redis_command *open[QUEUE_MAX_SHARDS] = { NULL };
    size_t filled[QUEUE_MAX_SHARDS] = { 0 };

    for (size_t i = 0; i < count; i++) {
        size_t shard = (size_t)messages[i].shard;

        assert(shard < QUEUE_MAX_SHARDS && "the message was claimed from this queue");
        if (!open[shard] || filled[shard] == ACKNOWLEDGE_CHUNK) {
            open[shard] = begin_settle_command(queue, consumer, batch, kind, shard);
            filled[shard] = 0;
        }
        redis_word(open[shard], str_of(messages[i].entry_id));
        if (kind == RELEASE)
            redis_word_int(open[shard], messages[i].deliveries - 1);
        filled[shard]++;
    }
}

static enum status check_settled(const struct redis_batch *batch, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        enum status status = redis_reply_status(batch->replies[i], err);

        if (status != STATUS_OK && status != STATUS_PRECONDITION) /* Redis was flushed: the message is gone */
            return status;
    }
    return STATUS_OK;
}

static enum status settle_messages(struct queue *queue, struct str consumer, enum settle_kind kind,
    const struct queue_message *messages, size_t count, struct error *err)
{
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, settle_room(count));
    write_settle_commands(queue, consumer, kind, messages, count, &batch);
    TRY(redis_run(queue->redis, &batch, 0, err));
    return check_settled(&batch, batch.count, err);
}

enum status queue_acknowledge(
    struct queue *queue, const struct queue_message *messages, size_t count, struct error *err)
{
    return settle_messages(queue, queue->consumer, ACKNOWLEDGE, messages, count, err);
}

void queue_acknowledge_later(struct queue *queue, const struct queue_message *messages, size_t count)
{
    size_t all = queue->later.count + count;

    if (all > queue->later.room) {
        queue->later.messages = xrealloc(queue->later.messages, all * sizeof(*messages));
        queue->later.room = all;
    }
    for (size_t i = 0; i < count; i++) {
        struct queue_message *kept = &queue->later.messages[queue->later.count++];

        *kept = messages[i];
        kept->intent = (struct intent){ 0 };
    }
}

size_t queue_later_room(const struct queue *queue)
{
    return settle_room(queue->later.count);
}

void queue_write_later(struct queue *queue, struct redis_batch *batch)
{
    write_settle_commands(
        queue, queue->consumer, ACKNOWLEDGE, queue->later.messages, queue->later.count, batch);
}

/* err: of a failure; otherwise not read. */
static void end_later(struct queue *queue, enum status status, const struct error *err)
{
    queue->later.count = 0;
    if (status == STATUS_OK)
        return;
    queue->later.status = status;
    queue->later.error = *err;
}

void queue_end_later(struct queue *queue, enum status status, const struct error *err,
    const struct redis_batch *batch, size_t count)
{
    struct error failure = *err;

    if (status == STATUS_OK)
        status = check_settled(batch, count, &failure);
    if (count > 0)
        end_later(queue, status, &failure);
}

void queue_flush(struct queue *queue)
{
    struct error err = { 0 };

    if (queue->later.count > 0)
        end_later(queue, queue_acknowledge(queue, queue->later.messages, queue->later.count, &err), &err);
}

enum status queue_acknowledged(struct queue *queue, struct error *err)
{
    enum status status = queue->later.status;

    queue->later.status = STATUS_OK;
    return status == STATUS_OK ? STATUS_OK : error_set(err, status, "%s", queue->later.error.message);
}

enum status queue_release(
    struct queue *queue, const struct queue_message *messages, size_t count, struct error *err)
{
    return settle_messages(queue, queue->consumer, RELEASE, messages, count, err);
}

enum status queue_renew(struct queue *queue, struct str consumer, const struct queue_message *messages,
    size_t count, struct error *err)
{
    return settle_messages(queue, consumer, RENEW, messages, count, err);
}

/* ---- state ---- */

/*
 * The run id of the Redis process, which the epoch key holds as long as Redis has lost nothing.
 * After a flush the key is gone; after a restart, possibly from an old dump, it names another
 * process.
 */
static enum status read_run_id(const redisReply *info, struct str *out, struct error *err)
{
    static const char field[] = "run_id:";
    struct str text;
    const char *at;

    TRY(redis_reply_status(info, err));
    if (!redis_reply_str(info, &text))
        return queue_unexpected(err, "INFO");
    at = memmem(text.data, text.len, field, sizeof(field) - 1);
    if (!at)
        return queue_unexpected(err, "INFO");
    *out = str_from(text, (size_t)(at - text.data) + sizeof(field) - 1);
    at = memchr(out->data, '\r', out->len);
    if (at)
        out->len = (size_t)(at - out->data);
    return STATUS_OK;
}

/* The number that XLEN or a script returned. Without a group, *out stays: nothing is claimed. */
static enum status read_count(const redisReply *reply, const char *command, int64_t *out, struct error *err)
{
    enum status status = redis_reply_status(reply, err);

    if (status != STATUS_OK)
        return status == STATUS_PRECONDITION ? STATUS_OK : status;
    return redis_reply_int(reply, out) ? STATUS_OK : queue_unexpected(err, command);
}

/* The replies to the commands of write_inspection, in this order. */
enum inspection {
    SAY_LENGTH,
    SAY_WAITING,
    SAY_PENDING,
    SAY_RELEASED,
    SAY_EPOCH,
    SAY_PROBE,
    INSPECT_COMMANDS
};

static enum status read_shard_state(redisReply *const replies[INSPECT_COMMANDS], struct str run_id,
    struct queue_state *state, struct error *err)
{
    int64_t length = 0, waiting = 0, pending = 0, released = 0;
    struct str epoch = STR_EMPTY;
    enum status status;

    TRY(read_count(replies[SAY_LENGTH], "XLEN", &length, err));
    TRY(read_count(replies[SAY_WAITING], "ZCARD", &waiting, err));
    status = redis_reply_status(replies[SAY_PENDING], err);
    if (status != STATUS_OK && status != STATUS_PRECONDITION) /* no group yet: nothing is claimed */
        return status;
    if (status == STATUS_OK && (!redis_reply_array(replies[SAY_PENDING], 1) ||
                                   !redis_reply_int(replies[SAY_PENDING]->element[0], &pending)))
        return queue_unexpected(err, "XPENDING");
    TRY(read_count(replies[SAY_RELEASED], "count_released", &released, err));
    TRY(redis_reply_status(replies[SAY_EPOCH], err));
    TRY(redis_reply_status(replies[SAY_PROBE], err));
    state->length += length + waiting;
    state->pending += pending;
    state->released += released;
    if (!redis_reply_str(replies[SAY_EPOCH], &epoch) || !str_equal(epoch, run_id))
        state->has_epoch = false;
    return STATUS_OK;
}

/* The last command is a SET, which shows whether Redis takes what is written. */
static void write_inspection(struct queue *queue, size_t shard, struct redis_batch *batch)
{
    const struct str *keys = queue->shards[shard].keys;
    struct redis_command *pending, *released, *probe;

    redis_word(redis_command(batch, "XLEN"), keys[KEY_STREAM]);
    redis_word(redis_command(batch, "ZCARD"), keys[KEY_WAITING]);
    pending = redis_command(batch, "XPENDING");
    redis_word(pending, keys[KEY_STREAM]);
    redis_word(pending, queue_group);
    released = queue_script(queue, shard, &lua_count_released, batch);
    redis_word(released, queue_group);
    redis_word_int(released, PRETENDED_IDLE_MS);
    redis_word_int(released, MAX_RELEASED);
    redis_word(redis_command(batch, "GET"), keys[KEY_EPOCH]);
    probe = redis_command(batch, "SET");
    redis_word(probe, keys[KEY_PROBE]);
    redis_word(probe, STR_LITERAL("1"));
}

enum status queue_inspect(struct queue *queue, struct queue_state *out, struct error *err)
{
    struct queue_state state = { .has_epoch = true };
    struct str run_id;
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, 1 + INSPECT_COMMANDS * queue->shard_count);
    redis_word(redis_command(&batch, "INFO"), STR_LITERAL("server"));
    for (size_t i = 0; i < queue->shard_count; i++)
        write_inspection(queue, i, &batch);
    TRY(redis_run(queue->redis, &batch, 0, err));
    TRY(read_run_id(batch.replies[0], &run_id, err));
    for (size_t i = 0; i < queue->shard_count; i++)
        TRY(read_shard_state(&batch.replies[1 + INSPECT_COMMANDS * i], run_id, &state, err));
    *out = state;
    return STATUS_OK;
}

enum status queue_set_epoch(struct queue *queue, struct error *err)
{
    struct str run_id;
    ARENA_SCOPE arena;
    REDIS_BATCH info;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&info, &arena, 1);
    redis_batch_init(&batch, &arena, queue->shard_count);
    redis_word(redis_command(&info, "INFO"), STR_LITERAL("server"));
    TRY(redis_run(queue->redis, &info, 0, err));
    TRY(read_run_id(info.replies[0], &run_id, err));
    for (size_t i = 0; i < queue->shard_count; i++) {
        struct redis_command *command = redis_command(&batch, "SET");

        redis_word(command, queue->shards[i].keys[KEY_EPOCH]);
        redis_word(command, run_id);
    }
    TRY(redis_run(queue->redis, &batch, 0, err));
    for (size_t i = 0; i < batch.count; i++)
        TRY(redis_reply_status(batch.replies[i], err));
    return STATUS_OK;
}
