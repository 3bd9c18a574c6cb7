/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_state.h - the members of struct queue, for the files of this folder.
 */
#ifndef QUEUE_QUEUE_STATE_H
#define QUEUE_QUEUE_STATE_H

#include "queue/queue.h"
#include "queue/redis.h"

enum { QUEUE_MAX_SHARDS = 64 };

extern const struct str queue_group; /* the consumer group's name */

#define FIRST_ENTRY "0-0" /* the cursor of a reclaim that begins anew */

struct shard {
    struct str stream;
    struct str epoch;
    struct str probe; /* a key that queue_inspect writes, to learn whether Redis accepts writes */
    char cursor[40];  /* where the next reclaim continues */
};

struct queue {
    struct arena arena; /* holds names */
    struct redis *redis;
    struct str consumer;
    size_t shard_count; /* the shards in use: 0 to shard_count - 1 */
    struct shard shards[QUEUE_MAX_SHARDS];
    int64_t max_messages;
    size_t next_shard;      /* where the next claim begins, so that no shard is favoured */
    int64_t next_forget_us; /* when silent consumers are deleted next */
};

/* Sets an error: the reply has not the form that the command's reply should have. */
enum status queue_unexpected(struct error *err, const char *command);

#endif
