/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - Redis streams that transport intents to workers and wake them. PostgreSQL is the
 * record: the streams hold nothing that is not there.
 *
 * A message is a pointer to an intent: bucket, id, kind and key. Each stream has a consumer group:
 * a claimed message is hidden from the other consumers, comes back after its visibility timeout,
 * and counts its deliveries. Messages may be lost, doubled and reordered without harm.
 *
 * Accounts share the consumers' time: of an account that has much to do, most messages wait outside
 * the stream, and consumers take those of all accounts in turns (lua/publish.lua).
 *
 * Keys have hash tags, as a Redis Cluster wants: "tavola:{q<shard>}:intents", the stream;
 * "tavola:{q<shard>}:waiting" and ":turns"; ":epoch" and ":probe". Group: "workers".
 *
 * A struct queue is used by one thread. Every call has a time limit of about a second and returns
 * STATUS_UNAVAILABLE if Redis cannot be reached. The next call connects again, after a pause
 * between attempts that the queue itself observes. Programs ignore SIGPIPE.
 */
#ifndef QUEUE_QUEUE_H
#define QUEUE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/intents/intent.h"
#include "queue/redis_url.h"

struct queue;

struct queue_options {
    struct redis_access redis;
    const char *consumer; /* this worker's name; NULL for publishers */
    int shards;           /* see queue_set_shards */
    int64_t max_messages; /* a shard with this number of messages accepts no further ones */
};

struct queue_message {
    struct intent intent; /* strings in the arena given to the call */
    int shard;
    char entry_id[40];  /* the id of the stream entry, for settling */
    int64_t deliveries; /* 1: the first time */
};

MUST_USE enum status queue_open(const struct queue_options *options, struct queue **out, struct error *err);
void queue_close(struct queue *queue);

/*
 * Set the number of streams, 1 to 64: a bucket's shard is bucket % shards. Servers and workers may
 * differ for a while: the relay publishes messages of streams that no worker reads again, in those
 * that are read, and unused streams expire. Messages that were claimed before the change can be
 * settled afterwards.
 */
void queue_set_shards(struct queue *queue, int shards);

/*
 * Publish, in one pipeline. *published is the number of messages that the shards have taken. A shard
 * that is full, or too full with messages of one account, takes no more of these: that is not an
 * error, and the relay publishes the rest later.
 */
MUST_USE enum status queue_publish(
    struct queue *queue, const struct intent *intents, size_t count, size_t *published, struct error *err);

/* How many messages a consumer takes, and where they go. */
struct queue_take {
    size_t max_count;
    /*
     * queue_claim: 0: take what is there; otherwise the longest wait for the first message. Messages that
     * wait for their turn do not end it, so a consumer first claims without a wait. queue_reclaim: not read
     */
    int64_t wait_ms;
    /* queue_reclaim: messages that were claimed longer ago; queue_claim: not read */
    int64_t idle_ms;
    struct arena *arena; /* of the messages */
};

/* Claim messages that no consumer has claimed. */
MUST_USE enum status queue_claim(struct queue *queue, const struct queue_take *take,
    struct queue_message **out, size_t *count, struct error *err);

/* Claim messages that another consumer has claimed and has not acknowledged. */
MUST_USE enum status queue_reclaim(struct queue *queue, const struct queue_take *take,
    struct queue_message **out, size_t *count, struct error *err);

/* Acknowledge the messages and delete them from their streams. */
MUST_USE enum status queue_acknowledge(
    struct queue *queue, const struct queue_message *messages, size_t count, struct error *err);

/*
 * The same with the next queue_claim, in one pipeline, so that a consumer does not wait for Redis twice between two
 * batches; or with queue_reclaim or queue_flush, if no claim follows soon. The messages are copied, without their
 * intents. They are sent once: if that fails, or the queue is closed before, they come back after their visibility
 * timeout. queue_acknowledged returns what became of those that were sent since it was called last; a failure does not
 * show in the results of the claims.
 */
void queue_acknowledge_later(struct queue *queue, const struct queue_message *messages, size_t count);
void queue_flush(struct queue *queue);
MUST_USE enum status queue_acknowledged(struct queue *queue, struct error *err);

/*
 * Begin the visibility timeout of messages that `consumer` has claimed anew; messages that another
 * consumer has taken over stay as they are. Any struct queue may do so, such as that of the thread
 * that renews claims.
 */
MUST_USE enum status queue_renew(struct queue *queue, struct str consumer,
    const struct queue_message *messages, size_t count, struct error *err);

/*
 * Make claimed messages claimable at once, and do not count this delivery: for work that was not
 * done.
 */
MUST_USE enum status queue_release(
    struct queue *queue, const struct queue_message *messages, size_t count, struct error *err);

struct queue_state {
    int64_t length;  /* messages in all shards, claimed ones included */
    int64_t pending; /* claimed, not acknowledged */
    /*
     * Of these, handed back: they wait for a consumer as new messages do. At most 1,024 of each stream
     * are counted.
     */
    int64_t released;
    /* false: Redis was flushed or is new: publish all open intents, then call queue_set_epoch. */
    bool has_epoch;
};
/*
 * Fails as queue_publish does if Redis answers but accepts no writes: full, a replica, without its
 * replicas.
 */
MUST_USE enum status queue_inspect(struct queue *queue, struct queue_state *out, struct error *err);
MUST_USE enum status queue_set_epoch(struct queue *queue, struct error *err);

/*
 * One small text under the key "tavola:{history}", for the next start of a program. queue_recall
 * copies it into the arena; empty: Redis has none. It is untrusted like everything in Redis, so
 * check it before use.
 */
MUST_USE enum status queue_recall(
    struct queue *queue, struct arena *arena, struct str *out, struct error *err);
MUST_USE enum status queue_remember(struct queue *queue, struct str hint, struct error *err);

#endif
