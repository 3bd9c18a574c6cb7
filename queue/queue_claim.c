/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_claim.c - taking messages: new ones, and those of consumers that have gone silent.
 *
 * Streams and groups are made when they are found missing, so a FLUSHALL costs one more round trip. An
 * entry that cannot be read (another program's, another version's) is removed: it was a hint, and the
 * intent it may have named still stands in PostgreSQL.
 */
#include "queue/queue.h"

#include <assert.h>

#include "base/clock.h"
#include "queue/lua.h"
#include "queue/message.h"
#include "queue/queue_state.h"

enum { CONSUMER_IDLE_MS = 3600 * 1000 }; /* after this long a consumer without entries is forgotten */

static const int64_t forget_every_us = INT64_C(600) * 1000 * 1000;

/* Messages being collected. */
struct haul {
    struct queue *queue;
    struct arena *arena;
    struct queue_message *messages;
    size_t count;
    size_t most;
    struct queue_message *rejects; /* entries that cannot be read */
    size_t reject_count;
};

static void haul_init(struct haul *haul, struct queue *queue, size_t most, struct arena *arena)
{
    assert(queue->consumer.len > 0 && "publishers do not claim");
    *haul = (struct haul){
        .queue = queue,
        .arena = arena,
        .messages = ARENA_ARRAY(arena, struct queue_message, most),
        .most = most,
        .rejects = ARENA_ARRAY(arena, struct queue_message, most),
    };
}

static size_t haul_room(const struct haul *haul)
{
    return haul->most - haul->count - haul->reject_count;
}

static bool haul_add(
    struct haul *haul, size_t shard, const redisReply *id, const redisReply *fields, int64_t deliveries)
{
    struct queue_message message = { .shard = (int)shard, .deliveries = deliveries };

    if (haul_room(haul) == 0)
        return false;
    if (message_decode(id, fields, haul->arena, &message))
        haul->messages[haul->count++] = message;
    else if (message.entry_id[0] != '\0')
        haul->rejects[haul->reject_count++] = message;
    return true;
}

/* Hand over what was collected; what cannot be read goes. A failure to remove it only delays that. */
static void haul_finish(struct haul *haul, struct queue_message **out, size_t *count)
{
    if (haul->reject_count > 0 &&
        queue_acknowledge(haul->queue, haul->rejects, haul->reject_count, NULL) != STATUS_OK)
        haul->reject_count = 0;
    *out = haul->messages;
    *count = haul->count;
}

/* Make the streams and their groups; those that are there stay as they are. */
static enum status create_groups(struct queue *queue, struct error *err)
{
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, queue->shard_count);
    for (size_t i = 0; i < queue->shard_count; i++) {
        struct redis_command *command = redis_command(&batch, "XGROUP");

        redis_word(command, STR_LITERAL("CREATE"));
        redis_word(command, queue->shards[i].stream);
        redis_word(command, queue_group);
        redis_word(command, STR_LITERAL("0"));
        redis_word(command, STR_LITERAL("MKSTREAM"));
    }
    TRY(redis_run(queue->redis, &batch, 0, err));
    for (size_t i = 0; i < batch.count; i++) {
        if (!redis_reply_is_error(batch.replies[i], "BUSYGROUP"))
            TRY(redis_reply_status(batch.replies[i], err));
    }
    return STATUS_OK;
}

/* Streams to read from, next to each other in a circle. */
struct window {
    size_t first;
    size_t count;
};

static size_t window_shard(const struct queue *queue, struct window window, size_t i)
{
    return (window.first + i) % queue->shard_count;
}

static void write_read_command(
    struct queue *queue, struct window window, size_t max_each, int64_t wait_ms, struct redis_batch *batch)
{
    struct redis_command *command = redis_command(batch, "XREADGROUP");

    redis_word(command, STR_LITERAL("GROUP"));
    redis_word(command, queue_group);
    redis_word(command, queue->consumer);
    redis_word(command, STR_LITERAL("COUNT"));
    redis_word_int(command, (int64_t)max_each);
    if (wait_ms > 0) {
        redis_word(command, STR_LITERAL("BLOCK"));
        redis_word_int(command, wait_ms);
    }
    redis_word(command, STR_LITERAL("STREAMS"));
    for (size_t i = 0; i < window.count; i++)
        redis_word(command, queue->shards[window_shard(queue, window, i)].stream);
    for (size_t i = 0; i < window.count; i++)
        redis_word(command, STR_LITERAL(">"));
}

static bool find_shard(const struct queue *queue, const redisReply *name, size_t *out)
{
    struct str stream;

    if (!redis_reply_str(name, &stream))
        return false;
    for (size_t i = 0; i < queue->shard_count; i++) {
        if (str_equal(queue->shards[i].stream, stream)) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* [[stream, [[id, fields], ...]], ...], or nil. brought: how many entries each shard gave. */
static bool take_read_reply(const redisReply *reply, struct haul *haul, size_t brought[QUEUE_MAX_SHARDS])
{
    if (reply->type == REDIS_REPLY_NIL)
        return true;
    if (!redis_reply_array(reply, 0))
        return false;
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *stream = reply->element[i];
        size_t shard;

        if (!redis_reply_array(stream, 2) || !find_shard(haul->queue, stream->element[0], &shard) ||
            !redis_reply_array(stream->element[1], 0))
            return false;
        for (size_t j = 0; j < stream->element[1]->elements; j++) {
            const redisReply *entry = stream->element[1]->element[j];

            if (!redis_reply_array(entry, 2) ||
                !haul_add(haul, shard, entry->element[0], entry->element[1], 1))
                return false;
            brought[shard]++;
        }
    }
    return true;
}

static enum status read_once(struct haul *haul, struct window window, size_t max_each, int64_t wait_ms,
    size_t brought[QUEUE_MAX_SHARDS], struct error *err)
{
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, 1);
    write_read_command(haul->queue, window, max_each, wait_ms, &batch);
    TRY(redis_run(haul->queue->redis, &batch, wait_ms, err));
    TRY(redis_reply_status(batch.replies[0], err));
    if (!take_read_reply(batch.replies[0], haul, brought))
        return queue_unexpected(err, "XREADGROUP");
    return STATUS_OK;
}

static enum status read_streams(struct haul *haul, struct window window, size_t max_each, int64_t wait_ms,
    size_t brought[QUEUE_MAX_SHARDS], struct error *err)
{
    enum status status = read_once(haul, window, max_each, wait_ms, brought, err);

    if (status != STATUS_PRECONDITION)
        return status;
    TRY(create_groups(haul->queue, err));
    return read_once(haul, window, max_each, wait_ms, brought, err);
}

/* Streams that gave their full share have more: fill up from them, without waiting. */
static void fill_up(
    struct haul *haul, struct window window, size_t share, const size_t brought[QUEUE_MAX_SHARDS])
{
    size_t more[QUEUE_MAX_SHARDS] = { 0 };

    for (size_t i = 0; i < window.count && haul_room(haul) > 0; i++) {
        size_t shard = window_shard(haul->queue, window, i);
        struct window one = { .first = shard, .count = 1 };

        if (brought[shard] >= share && read_streams(haul, one, haul_room(haul), 0, more, NULL) != STATUS_OK)
            return; /* what was claimed is handed over; the next call will say what is wrong */
    }
}

/* COUNT of XREADGROUP is per stream: with more streams than room, ask them in turns. */
enum status queue_claim(struct queue *queue, size_t most, int64_t wait_ms, struct arena *arena,
    struct queue_message **out, size_t *count, struct error *err)
{
    size_t width = most < queue->shard_count ? most : queue->shard_count;
    size_t turns = width > 0 ? (queue->shard_count + width - 1) / width : 0;
    struct haul haul;

    haul_init(&haul, queue, most, arena);
    for (size_t turn = 0; turn < turns && haul_room(&haul) == most; turn++) {
        struct window window = { .first = queue->next_shard, .count = width };
        size_t brought[QUEUE_MAX_SHARDS] = { 0 };
        size_t share = most / width;

        queue->next_shard = (queue->next_shard + (turns > 1 ? width : 1)) % queue->shard_count;
        TRY(read_streams(&haul, window, share, wait_ms / (int64_t)turns, brought, err));
        if (width > 1)
            fill_up(&haul, window, share, brought);
    }
    haul_finish(&haul, out, count);
    return STATUS_OK;
}

/* [cursor, [[id, fields, deliveries], ...]] */
static bool take_reclaim_reply(const redisReply *reply, size_t shard, struct haul *haul)
{
    struct shard *state = &haul->queue->shards[shard];
    struct str cursor;

    if (!redis_reply_array(reply, 2) || !redis_reply_str(reply->element[0], &cursor) ||
        cursor.len >= sizeof(state->cursor) || !redis_reply_array(reply->element[1], 0))
        return false;
    memcpy(state->cursor, cursor.data, cursor.len);
    state->cursor[cursor.len] = '\0';
    for (size_t i = 0; i < reply->element[1]->elements; i++) {
        const redisReply *entry = reply->element[1]->element[i];
        int64_t deliveries;

        if (!redis_reply_array(entry, 3) || !redis_reply_int(entry->element[2], &deliveries) ||
            !haul_add(haul, shard, entry->element[0], entry->element[1], deliveries))
            return false;
    }
    return true;
}

static enum status reclaim_once(struct haul *haul, size_t shard, int64_t idle_ms, struct error *err)
{
    struct queue *queue = haul->queue;
    struct redis_command *command;
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, 1);
    command = redis_script(&batch, &lua_reclaim, queue->shards[shard].stream);
    redis_word(command, queue_group);
    redis_word(command, queue->consumer);
    redis_word_int(command, idle_ms);
    redis_word(command, str_of(queue->shards[shard].cursor));
    redis_word_int(command, (int64_t)haul_room(haul));
    TRY(redis_run(queue->redis, &batch, 0, err));
    TRY(redis_reply_status(batch.replies[0], err));
    if (!take_reclaim_reply(batch.replies[0], shard, haul))
        return queue_unexpected(err, "XAUTOCLAIM");
    return STATUS_OK;
}

static enum status forget_consumers(struct queue *queue, struct error *err)
{
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, queue->shard_count);
    for (size_t i = 0; i < queue->shard_count; i++) {
        struct redis_command *command = redis_script(&batch, &lua_forget_consumers, queue->shards[i].stream);

        redis_word(command, queue_group);
        redis_word(command, queue->consumer);
        redis_word_int(command, CONSUMER_IDLE_MS);
    }
    TRY(redis_run(queue->redis, &batch, 0, err));
    for (size_t i = 0; i < batch.count; i++)
        TRY(redis_reply_status(batch.replies[i], err));
    queue->next_forget_us = clock_monotonic_us() + forget_every_us;
    return STATUS_OK;
}

enum status queue_reclaim(struct queue *queue, size_t most, int64_t idle_ms, struct arena *arena,
    struct queue_message **out, size_t *count, struct error *err)
{
    enum status status = STATUS_OK;
    struct haul haul;

    haul_init(&haul, queue, most, arena);
    for (size_t i = 0; i < queue->shard_count && haul_room(&haul) > 0; i++) {
        size_t shard = (queue->next_shard + i) % queue->shard_count;

        status = reclaim_once(&haul, shard, idle_ms, err);
        if (status == STATUS_PRECONDITION)
            status = create_groups(queue, err); /* new groups hold nothing to take over */
        if (status != STATUS_OK)
            break;
    }
    if (status == STATUS_OK && clock_monotonic_us() >= queue->next_forget_us)
        status = forget_consumers(queue, err);
    if (haul.count == 0 && status != STATUS_OK)
        return status;
    haul_finish(&haul, out, count);
    return STATUS_OK;
}
