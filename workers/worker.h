/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - what the threads of one worker process share, and what each has of its own.
 *
 * Threads share the atomics of struct worker_shared and nothing else; the relay sets leases, queue
 * mode and lag for all threads. A struct worker_ctx is used by one thread. Clock and random numbers
 * come through it, so that tests can set them.
 */
#ifndef WORKERS_WORKER_H
#define WORKERS_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/chunk_store.h"
#include "domain/intents/delivery.h"
#include "domain/intents/retry_budget.h"
#include "domain/transactions/effect_shares.h"
#include "queue/queue.h"
#include "store/intents/scan_reach.h"
#include "store/session/worker.h"
#include "workers/claim.h"
#include "workers/config.h"
#include "workers/gauges.h"
#include "workers/metrics.h"
#include "workers/outage.h"
#include "workers/queues.h"
#include "workers/scaler.h"
#include "workers/traces.h"

enum { WORKER_MAX_THREADS = 64 };

struct worker_shared {
    const struct worker_config *config;
    struct claim claims[WORKER_MAX_THREADS]; /* one per consumer */

    atomic_bool stopping;
    pthread_mutex_t mutex; /* for the condition only */
    pthread_cond_t stop;   /* on the monotonic clock */

    atomic_bool held[LEASE_RANGES]; /* the bucket ranges this worker has leases of */
    /* false: Redis cannot be relied on, so consumers poll PostgreSQL */
    atomic_bool streaming;
    atomic_llong lag_us;
    atomic_llong open_intents;   /* in the bucket ranges held */
    atomic_bool store_available; /* the relay's last pass ended well */
    struct counters *counters;   /* enum worker_counter */
    struct remembered *remembered;
    struct shared_catalogue *catalogue;
    struct queues queues;
    struct told_gauges gauges;
    struct worker_tracing tracing;
    struct chunk_stores chunks;
    struct scaler *scaler;         /* NULL: not configured */
    pthread_mutex_t effects_mutex; /* for effects */
    struct effect_shares effects;
};

void worker_shared_init(struct worker_shared *shared, const struct worker_config *config);
void worker_shared_cleanup(struct worker_shared *shared);

/* Make every thread finish; wakes the threads that pause. */
void worker_stop(struct worker_shared *shared);
bool worker_is_stopping(const struct worker_shared *shared);

struct worker_ctx {
    struct worker_shared *shared;
    struct worker *store;
    struct queue *queue;
    struct arena arena;          /* of the turn under way */
    int index;                   /* among the consumers, from 0 */
    uint64_t random;             /* state of worker_random */
    struct retry_budget retries; /* of this thread */
    struct outages outages;      /* of this thread */
    /* set by a step that fails outside the database, DELIVERY_OF_WORK before each step */
    enum delivery_cause failure_cause;
    bool polled;      /* the work of this turn was claimed from the database */
    bool left_rest;   /* the step that has just run ended its turn before the work was done: step_turn.h */
    int64_t calls_us; /* what calls of HTTP have taken in this turn */
    int64_t (*now_us)(void);
};

#define WORKER_CONSUMER "consumer" /* the role of the threads that claim work */

/*
 * Prepare the connections of one thread; nothing is connected yet. role and index name its consumer
 * in Redis.
 */
MUST_USE enum status worker_ctx_init(
    struct worker_ctx *ctx, struct worker_shared *shared, int index, const char *role, struct error *err);
void worker_ctx_cleanup(struct worker_ctx *ctx);

/*
 * Publish intents, as a server does after a write. They are hints: losing them is harmless. false: the queue has not
 * taken all of them.
 */
bool worker_publish(struct worker_ctx *ctx, const struct intent *intents, size_t count);

uint64_t worker_random(struct worker_ctx *ctx);

/* Wait. Returns false, at once, if the worker stops. */
bool worker_pause(struct worker_ctx *ctx, int64_t ms);

#endif
