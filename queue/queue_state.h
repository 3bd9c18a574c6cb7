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

/* The keys of a shard. Scripts get the first ones, up to SCRIPT_KEYS. */
enum shard_key {
    KEY_STREAM,
    KEY_WAITING, /* messages that are not in the stream yet: publish.lua */
    KEY_TURNS,   /* of the accounts that have waiting messages */
    SCRIPT_KEYS,
    KEY_EPOCH = SCRIPT_KEYS,
    KEY_PROBE, /* is written by queue_inspect, to learn whether Redis accepts writes */
    SHARD_KEYS,
};

struct shard {
    struct str keys[SHARD_KEYS];
    char cursor[40]; /* where the next reclaim continues */
    bool by_script;  /* the next claim from it runs claim.lua: queue_claim.c */
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
    struct {
        struct queue_message *messages; /* their intents are not used */
        size_t count, room;
        enum status status; /* the last failure that queue_acknowledged has not told; STATUS_OK: none */
        struct error error;
    } later; /* to be acknowledged with the next claim */
};

/* A call of a script for the shard. */
struct redis_command *queue_script(
    struct queue *queue, size_t shard, const struct embedded *script, struct redis_batch *batch);

/*
 * The acknowledgements that were left for later, as commands of a batch; at most queue_later_room. They borrow from
 * the queue until they have run: then call queue_end_later with what redis_run returned, its error, and the number of
 * their replies, which are the first ones.
 */
size_t queue_later_room(const struct queue *queue);
void queue_write_later(struct queue *queue, struct redis_batch *batch);
void queue_end_later(struct queue *queue, enum status status, const struct error *err,
    const struct redis_batch *batch, size_t count);

/* Sets an error: the reply has not the form that the command's reply should have. */
enum status queue_unexpected(struct error *err, const char *command);

#endif
