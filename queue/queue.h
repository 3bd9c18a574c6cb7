/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - Redis streams as transport and wake-up: nothing in them that is not in PostgreSQL.
 *
 * A message is a pointer to an intent: bucket, id, kind and key. Streams have consumer groups: a claimed
 * message is hidden from the others, comes back after its visibility timeout, and counts its deliveries.
 * Losing, doubling or reordering messages harms nobody.
 *
 * Keys are hash-tagged, so that a Redis Cluster stays possible: "tavola:{q<shard>}:intents",
 * "tavola:{q<shard>}:epoch", "tavola:{q<shard>}:probe". Group: "workers".
 *
 * A queue belongs to one thread. Every call has a time limit (about a second) and returns
 * STATUS_UNAVAILABLE when Redis cannot be reached; the next call tries to connect again (with a pause
 * between attempts, so callers need not). Programs ignore SIGPIPE.
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
    int64_t max_messages; /* publishing stops while a stream is this long */
};

struct queue_message {
    struct intent intent; /* strings in the arena given to the call */
    int shard;
    char entry_id[40];  /* Redis' own id, for acknowledgement */
    int64_t deliveries; /* 1: the first time */
};

MUST_USE enum status queue_open(const struct queue_options *options, struct queue **out, struct error *err);
void queue_close(struct queue *queue);

/*
 * Streams, 1..64: a bucket's shard is bucket % shards. It is nobody's truth: while it changes, and servers and workers
 * differ, messages in streams that no worker reads are published again by the relay, in those it reads, and the
 * forsaken streams expire. Messages claimed before can be settled after.
 */
void queue_set_shards(struct queue *queue, int shards);

/*
 * Publish, in one pipeline. *published counts what was sent; messages for a stream that is full are left out
 * silently: the relay comes back for them.
 */
MUST_USE enum status queue_publish(
    struct queue *queue, const struct intent *intents, size_t count, size_t *published, struct error *err);

/* Messages and their number: at most `most`; waits up to wait_ms for the first. */
MUST_USE enum status queue_claim(struct queue *queue, size_t most, int64_t wait_ms, struct arena *arena,
    struct queue_message **out, size_t *count, struct error *err);

/* Take over messages another consumer claimed more than idle_ms ago. */
MUST_USE enum status queue_reclaim(struct queue *queue, size_t most, int64_t idle_ms, struct arena *arena,
    struct queue_message **out, size_t *count, struct error *err);

/* Acknowledge and delete: the message is gone. */
MUST_USE enum status queue_acknowledge(
    struct queue *queue, const struct queue_message *messages, size_t count, struct error *err);

/*
 * Keep messages that a consumer has claimed hidden for another visibility timeout; not those that are another's by
 * now. From any queue object, so that whoever works need not.
 */
MUST_USE enum status queue_renew(struct queue *queue, struct str consumer,
    const struct queue_message *messages, size_t count, struct error *err);

/* Hand back unfinished messages at once, without counting a delivery (shutdown). */
MUST_USE enum status queue_hand_back(
    struct queue *queue, const struct queue_message *messages, size_t count, struct error *err);

struct queue_state {
    int64_t length;  /* messages in all streams, claimed ones included */
    int64_t pending; /* claimed, not acknowledged */
    bool has_epoch;  /* false: Redis was flushed or is new; republish everything, then queue_set_epoch */
};
/* Fails, as publishing would, where Redis answers but takes nothing: full, a replica, without its replicas. */
MUST_USE enum status queue_inspect(struct queue *queue, struct queue_state *out, struct error *err);
MUST_USE enum status queue_set_epoch(struct queue *queue, struct error *err);

/*
 * One small text that outlives the programs, as long as Redis keeps it: "tavola:{history}". Recalled into the arena;
 * empty: there is none. It is as little to be trusted as everything in Redis.
 */
MUST_USE enum status queue_recall(
    struct queue *queue, struct arena *arena, struct str *out, struct error *err);
MUST_USE enum status queue_remember(struct queue *queue, struct str hint, struct error *err);

#endif
