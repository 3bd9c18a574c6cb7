/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_state.h - what a queue is made of, for the files of this folder.
 */
#ifndef QUEUE_QUEUE_STATE_H
#define QUEUE_QUEUE_STATE_H

#include "queue/queue.h"
#include "queue/redis.h"

enum { QUEUE_MAX_SHARDS = 64 };

extern const struct str queue_group; /* the consumer group's name */

struct shard {
    struct str stream;
    struct str epoch;
    struct str probe; /* written to learn whether Redis takes anything */
    char cursor[40];  /* where the next reclaim goes on */
};

struct queue {
    struct arena arena; /* holds names */
    struct redis *redis;
    struct str consumer;
    size_t shard_count; /* of these are published to and read */
    struct shard shards[QUEUE_MAX_SHARDS];
    int64_t max_messages;
    size_t next_shard; /* where the next claim begins, so that none is favoured */
    int64_t next_forget_us;
};

/* A reply that is not what its command answers with. */
enum status queue_unexpected(struct error *err, const char *command);

#endif
