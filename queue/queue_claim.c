/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_claim.c - claims messages: new ones, and those of consumers that have become silent.
 *
 * Streams and groups are created when a command reports that they are missing, so a FLUSHALL costs
 * one more round trip. An entry that cannot be read (of another program or version) is removed: the
 * intent is still in PostgreSQL.
 */
#include "queue/queue.h"

#include <assert.h>

#include "base/clock.h"
#include "queue/lua.h"
#include "queue/message.h"
#include "queue/queue_state.h"

/* a consumer without entries that is silent for longer is deleted */
enum { CONSUMER_IDLE_MS = 3600 * 1000 };

static const int64_t forget_every_us = INT64_C(600) * 1000 * 1000;

/* The messages that a claim has collected so far. */
struct claimed {
    struct queue *queue;
    struct arena *arena;
    struct queue_message *messages;
    size_t count;
    size_t max;
    struct queue_message *rejects; /* entries that cannot be read */
    size_t reject_count;
};

static void claimed_init(struct claimed *claimed, struct queue *queue, size_t max, struct arena *arena)
{
    assert(queue->consumer.len > 0 && "publishers do not claim");
    *claimed = (struct claimed){
        .queue = queue,
        .arena = arena,
        .messages = ARENA_ARRAY(arena, struct queue_message, max),
        .max = max,
        .rejects = ARENA_ARRAY(arena, struct queue_message, max),
    };
}

static size_t claimed_room(const struct claimed *claimed)
{
    return claimed->max - claimed->count - claimed->reject_count;
}

static bool claimed_add(
    struct claimed *claimed, size_t shard, const redisReply *id, const redisReply *fields, int64_t deliveries)
{
    struct queue_message message = { .shard = (int)shard, .deliveries = deliveries };

    if (claimed_room(claimed) == 0)
        return false;
    if (message_decode(id, fields, claimed->arena, &message))
        claimed->messages[claimed->count++] = message;
    else if (message.entry_id[0] != '\0')
        claimed->rejects[claimed->reject_count++] = message;
    return true;
}

/*
 * Give the messages to the caller and remove the unreadable entries; if that fails, a later claim
 * removes them.
 */
static void claimed_finish(struct claimed *claimed, struct queue_message **out, size_t *count)
{
    if (claimed->reject_count > 0 &&
        queue_acknowledge(claimed->queue, claimed->rejects, claimed->reject_count, NULL) != STATUS_OK)
        claimed->reject_count = 0;
    *out = claimed->messages;
    *count = claimed->count;
}

/* Create the streams and groups that are missing. */
static enum status create_groups(struct queue *queue, struct error *err)
{
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, queue->shard_count);
    for (size_t i = 0; i < queue->shard_count; i++) {
        struct redis_command *command = redis_command(&batch, "XGROUP");

        redis_word(command, STR_LITERAL("CREATE"));
        redis_word(command, queue->shards[i].keys[KEY_STREAM]);
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

/* Neighbouring streams to read from; the first follows the last. */
struct window {
    size_t first;
    size_t count;
};

static size_t window_shard(const struct queue *queue, struct window window, size_t i)
{
    return (window.first + i) % queue->shard_count;
}

/* XREADGROUP of the streams of the shards. */
static void write_read_command(struct queue *queue, const size_t *shards, size_t count, size_t max_each,
    int64_t wait_ms, struct redis_batch *batch)
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
    for (size_t i = 0; i < count; i++)
        redis_word(command, queue->shards[shards[i]].keys[KEY_STREAM]);
    for (size_t i = 0; i < count; i++)
        redis_word(command, STR_LITERAL(">"));
}

static bool find_shard(const struct queue *queue, const redisReply *name, size_t *out)
{
    struct str stream;

    if (!redis_reply_str(name, &stream))
        return false;
    for (size_t i = 0; i < queue->shard_count; i++) {
        if (str_equal(queue->shards[i].keys[KEY_STREAM], stream)) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* reply: [[stream, [[id, fields], ...]], ...], or nil. returned: the number of entries by shard. */
static bool take_read_reply(
    const redisReply *reply, struct claimed *claimed, size_t returned[QUEUE_MAX_SHARDS])
{
    if (reply->type == REDIS_REPLY_NIL)
        return true;
    if (!redis_reply_array(reply, 0))
        return false;
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *stream = reply->element[i];
        size_t shard;

        if (!redis_reply_array(stream, 2) || !find_shard(claimed->queue, stream->element[0], &shard) ||
            !redis_reply_array(stream->element[1], 0))
            return false;
        for (size_t j = 0; j < stream->element[1]->elements; j++) {
            const redisReply *entry = stream->element[1]->element[j];

            if (!redis_reply_array(entry, 2) ||
                !claimed_add(claimed, shard, entry->element[0], entry->element[1], 1))
                return false;
            returned[shard]++;
        }
    }
    return true;
}

static enum status read_waiting(struct claimed *claimed, struct window window, size_t max_each,
    int64_t wait_ms, size_t returned[QUEUE_MAX_SHARDS], struct error *err)
{
    size_t shards[QUEUE_MAX_SHARDS];
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, 1);
    queue_flush(claimed->queue);
    for (size_t i = 0; i < window.count; i++)
        shards[i] = window_shard(claimed->queue, window, i);
    write_read_command(claimed->queue, shards, window.count, max_each, wait_ms, &batch);
    TRY(redis_run(claimed->queue->redis, &batch, wait_ms, err));
    TRY(redis_reply_status(batch.replies[0], err));
    if (!take_read_reply(batch.replies[0], claimed, returned))
        return queue_unexpected(err, "XREADGROUP");
    return STATUS_OK;
}

/*
 * A claim without a wait, in one pipeline: what is acknowledged later; claim.lua for each shard where messages wait for
 * their turn; one XREADGROUP for the others, which costs Redis much less than a script for each; and for every shard,
 * whether messages wait there now.
 */
struct reading {
    size_t scripts[QUEUE_MAX_SHARDS], plain[QUEUE_MAX_SHARDS]; /* shards */
    size_t script_count, plain_count;
    size_t settled;    /* replies to what is acknowledged */
    enum status first; /* the first failure */
};

static void write_script(struct queue *queue, size_t shard, size_t wanted, struct redis_batch *batch)
{
    struct redis_command *command = queue_script(queue, shard, &lua_claim, batch);

    redis_word(command, queue_group);
    redis_word(command, queue->consumer);
    redis_word_int(command, (int64_t)wanted);
    redis_word_int(command, MESSAGE_CTIDS_DIGITS);
}

static void write_reading(struct queue *queue, struct window window, size_t max_each, struct reading *reading,
    struct redis_batch *batch)
{
    queue_write_later(queue, batch);
    *reading = (struct reading){ .settled = batch->count };
    for (size_t i = 0; i < window.count; i++) {
        size_t shard = window_shard(queue, window, i);

        if (queue->shards[shard].by_script)
            reading->scripts[reading->script_count++] = shard;
        else
            reading->plain[reading->plain_count++] = shard;
    }
    for (size_t i = 0; i < reading->script_count; i++)
        write_script(queue, reading->scripts[i], max_each, batch);
    if (reading->plain_count > 0)
        write_read_command(queue, reading->plain, reading->plain_count, max_each, 0, batch);
    for (size_t i = 0; i < window.count; i++)
        redis_word(
            redis_command(batch, "EXISTS"), queue->shards[window_shard(queue, window, i)].keys[KEY_WAITING]);
}

/* What one script has given is taken also if another fails. err: set by the first failure only. */
static void take_scripts(struct reading *reading, redisReply *const *replies, struct claimed *claimed,
    size_t returned[QUEUE_MAX_SHARDS], struct error *err)
{
    for (size_t i = 0; i < reading->script_count; i++) {
        struct error *cause = reading->first == STATUS_OK ? err : NULL;
        enum status status = redis_reply_status(replies[i], cause);

        if (status == STATUS_OK && !take_read_reply(replies[i], claimed, returned))
            status = queue_unexpected(cause, "claim");
        if (reading->first == STATUS_OK)
            reading->first = status;
    }
}

/*
 * XREADGROUP reads nothing if one of its streams has no group, or is none. Then the script reads each of them, and
 * creates the group.
 */
static void take_plain(struct reading *reading, const redisReply *reply, struct claimed *claimed,
    size_t returned[QUEUE_MAX_SHARDS])
{
    if (redis_reply_status(reply, NULL) == STATUS_OK && take_read_reply(reply, claimed, returned))
        return;
    for (size_t i = 0; i < reading->plain_count; i++)
        claimed->queue->shards[reading->plain[i]].by_script = true;
}

static void note_waiting(struct queue *queue, struct window window, redisReply *const *replies)
{
    for (size_t i = 0; i < window.count; i++) {
        int64_t waiting;

        queue->shards[window_shard(queue, window, i)].by_script =
            redis_reply_int(replies[i], &waiting) && waiting > 0;
    }
}

/*
 * Run the script for those shards of the XREADGROUP where messages wait, or which it could not read. A shard that has
 * given its full share is left for the next claim.
 */
static void read_rest(struct claimed *claimed, size_t max_each, struct reading *reading,
    size_t returned[QUEUE_MAX_SHARDS], struct error *err)
{
    struct queue *queue = claimed->queue;
    enum status status;
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, reading->plain_count);
    reading->script_count = 0;
    for (size_t i = 0; i < reading->plain_count; i++) {
        size_t shard = reading->plain[i];

        if (!queue->shards[shard].by_script || returned[shard] >= max_each)
            continue;
        reading->scripts[reading->script_count++] = shard;
        write_script(queue, shard, max_each - returned[shard], &batch);
    }
    status = redis_run(queue->redis, &batch, 0, reading->first == STATUS_OK ? err : NULL);
    if (status == STATUS_OK)
        take_scripts(reading, batch.replies, claimed, returned, err);
    else if (reading->first == STATUS_OK)
        reading->first = status;
}

static enum status read_at_once(struct claimed *claimed, struct window window, size_t max_each,
    size_t returned[QUEUE_MAX_SHARDS], struct error *err)
{
    struct queue *queue = claimed->queue;
    redisReply *const *replies;
    struct error failure = { 0 };
    struct reading reading;
    enum status status;
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, queue_later_room(queue) + 2 * window.count + 1);
    write_reading(queue, window, max_each, &reading, &batch);
    status = redis_run(queue->redis, &batch, 0, &failure);
    queue_end_later(queue, status, &failure, &batch, reading.settled);
    if (status != STATUS_OK)
        return error_set(err, status, "%s", failure.message);
    replies = batch.replies + reading.settled;
    take_scripts(&reading, replies, claimed, returned, err);
    note_waiting(queue, window, replies + reading.script_count + (reading.plain_count > 0));
    if (reading.plain_count > 0) {
        take_plain(&reading, replies[reading.script_count], claimed, returned);
        read_rest(claimed, max_each, &reading, returned, err);
    }
    return claimed->count > 0 ? STATUS_OK : reading.first;
}

static enum status read_once(struct claimed *claimed, struct window window, size_t max_each, int64_t wait_ms,
    size_t returned[QUEUE_MAX_SHARDS], struct error *err)
{
    return wait_ms > 0 ? read_waiting(claimed, window, max_each, wait_ms, returned, err)
                       : read_at_once(claimed, window, max_each, returned, err);
}

static enum status read_streams(struct claimed *claimed, struct window window, size_t max_each,
    int64_t wait_ms, size_t returned[QUEUE_MAX_SHARDS], struct error *err)
{
    enum status status = read_once(claimed, window, max_each, wait_ms, returned, err);

    if (status != STATUS_PRECONDITION)
        return status;
    TRY(create_groups(claimed->queue, err));
    return read_once(claimed, window, max_each, wait_ms, returned, err);
}

/* A stream that gave its full share may have more: read those streams again, without waiting. */
static void fill_up(
    struct claimed *claimed, struct window window, size_t share, const size_t returned[QUEUE_MAX_SHARDS])
{
    size_t more[QUEUE_MAX_SHARDS] = { 0 };

    for (size_t i = 0; i < window.count && claimed_room(claimed) > 0; i++) {
        size_t shard = window_shard(claimed->queue, window, i);
        struct window one = { .first = shard, .count = 1 };

        if (returned[shard] >= share &&
            read_streams(claimed, one, claimed_room(claimed), 0, more, NULL) != STATUS_OK)
            return; /* the caller gets what was claimed; the next call reports the failure */
    }
}

/*
 * COUNT of XREADGROUP is per stream: if there are more streams than max_count, read them in turns.
 */
enum status queue_claim(struct queue *queue, const struct queue_take *take, struct queue_message **out,
    size_t *count, struct error *err)
{
    size_t width = take->max_count < queue->shard_count ? take->max_count : queue->shard_count;
    size_t turns = width > 0 ? (queue->shard_count + width - 1) / width : 0;
    struct claimed claimed;

    claimed_init(&claimed, queue, take->max_count, take->arena);
    for (size_t turn = 0; turn < turns && claimed_room(&claimed) == take->max_count; turn++) {
        struct window window = { .first = queue->next_shard, .count = width };
        size_t returned[QUEUE_MAX_SHARDS] = { 0 };
        size_t share = take->max_count / width;

        queue->next_shard = (queue->next_shard + (turns > 1 ? width : 1)) % queue->shard_count;
        TRY(read_streams(&claimed, window, share, take->wait_ms / (int64_t)turns, returned, err));
        if (width > 1)
            fill_up(&claimed, window, share, returned);
    }
    claimed_finish(&claimed, out, count);
    return STATUS_OK;
}

/* reply: [cursor, [[id, fields, deliveries], ...]] */
static bool take_reclaim_reply(const redisReply *reply, size_t shard, struct claimed *claimed)
{
    struct shard *state = &claimed->queue->shards[shard];
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
            !claimed_add(claimed, shard, entry->element[0], entry->element[1], deliveries))
            return false;
    }
    return true;
}

static enum status reclaim_once(struct claimed *claimed, size_t shard, int64_t idle_ms, struct error *err)
{
    struct queue *queue = claimed->queue;
    struct redis_command *command;
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, 1);
    command = queue_script(queue, shard, &lua_reclaim, &batch);
    redis_word(command, queue_group);
    redis_word(command, queue->consumer);
    redis_word_int(command, idle_ms);
    redis_word(command, str_of(queue->shards[shard].cursor));
    redis_word_int(command, (int64_t)claimed_room(claimed));
    TRY(redis_run(queue->redis, &batch, 0, err));
    TRY(redis_reply_status(batch.replies[0], err));
    if (!take_reclaim_reply(batch.replies[0], shard, claimed))
        return queue_unexpected(err, "XAUTOCLAIM");
    return STATUS_OK;
}

/*
 * Look from where the last look has stopped. If that was in the middle and this look reaches the end, look from the
 * first entry on as well: entries that were released lie there, and their consumer waits for them. Without an idle time
 * the second look would take the entries of the first one again.
 */
static enum status reclaim_shard(struct claimed *claimed, size_t shard, int64_t idle_ms, struct error *err)
{
    const char *cursor = claimed->queue->shards[shard].cursor;
    bool was_in_middle = strcmp(cursor, FIRST_ENTRY) != 0;

    TRY(reclaim_once(claimed, shard, idle_ms, err));
    if (was_in_middle && strcmp(cursor, FIRST_ENTRY) == 0 && idle_ms > 0 && claimed_room(claimed) > 0)
        return reclaim_once(claimed, shard, idle_ms, err);
    return STATUS_OK;
}

static enum status delete_silent_consumers(struct queue *queue, struct error *err)
{
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, queue->shard_count);
    for (size_t i = 0; i < queue->shard_count; i++) {
        struct redis_command *command = queue_script(queue, i, &lua_forget_consumers, &batch);

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

enum status queue_reclaim(struct queue *queue, const struct queue_take *take, struct queue_message **out,
    size_t *count, struct error *err)
{
    enum status status = STATUS_OK;
    struct claimed claimed;

    queue_flush(queue);
    claimed_init(&claimed, queue, take->max_count, take->arena);
    for (size_t i = 0; i < queue->shard_count && claimed_room(&claimed) > 0 && status == STATUS_OK; i++) {
        size_t shard = (queue->next_shard + i) % queue->shard_count;

        status = reclaim_shard(&claimed, shard, take->idle_ms, err);
        if (status == STATUS_PRECONDITION)
            status = create_groups(queue, err); /* a new group has no claimed entries */
    }
    if (status == STATUS_OK && clock_monotonic_us() >= queue->next_forget_us)
        status = delete_silent_consumers(queue, err);
    if (claimed.count == 0 && status != STATUS_OK)
        return status;
    claimed_finish(&claimed, out, count);
    return STATUS_OK;
}
