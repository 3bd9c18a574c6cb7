/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hint.c - one small text that programs store in Redis for their next start. It is a hint: nothing
 * depends on it.
 */
#include "queue/queue.h"
#include "queue/queue_state.h"

static const struct str hint_key = { .data = "tavola:{history}", .len = 16 };

enum status queue_recall(struct queue *queue, struct arena *arena, struct str *out, struct error *err)
{
    struct str found = STR_EMPTY;
    REDIS_BATCH batch;

    redis_batch_init(&batch, arena, 1);
    redis_word(redis_command(&batch, "GET"), hint_key);
    TRY(redis_run(queue->redis, &batch, 0, err));
    TRY(redis_reply_status(batch.replies[0], err));
    *out = redis_reply_str(batch.replies[0], &found) ? arena_copy(arena, found) : STR_EMPTY;
    return STATUS_OK;
}

enum status queue_remember(struct queue *queue, struct str hint, struct error *err)
{
    struct redis_command *command;
    ARENA_SCOPE arena;
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, 1);
    command = redis_command(&batch, "SET");
    redis_word(command, hint_key);
    redis_word(command, hint);
    TRY(redis_run(queue->redis, &batch, 0, err));
    return redis_reply_status(batch.replies[0], err);
}
