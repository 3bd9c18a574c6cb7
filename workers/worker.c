/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - see the header.
 */
#include "workers/worker.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/random.h"
#include "chunks/chunk_open.h"
#include "store/connection/remembered.h"
#include "store/session/shared_catalogue.h"

static const int64_t max_messages_per_stream = 100000;

void worker_shared_init(struct worker_shared *shared, const struct worker_config *config)
{
    char holder[128];

    *shared = (struct worker_shared){ .config = config,
        .counters = counters_new(WORKER_COUNTERS),
        .remembered = remembered_new(),
        .catalogue = shared_catalogue_new() };
    queues_init(&shared->queues);
    told_gauges_init(&shared->gauges);
    pthread_mutex_init(&shared->mutex, NULL);
    pthread_mutex_init(&shared->effects_mutex, NULL);
    effect_shares_init(&shared->effects, (int)config->threads);
    condition_init(&shared->stop);
    for (int i = 0; i < (int)config->threads; i++) {
        snprintf(holder, sizeof(holder), "%s-" WORKER_CONSUMER "%d", config->name, i);
        claim_init(&shared->claims[i], str_of(holder), random_bits());
    }
}

void worker_shared_cleanup(struct worker_shared *shared)
{
    pthread_cond_destroy(&shared->stop);
    pthread_mutex_destroy(&shared->effects_mutex);
    pthread_mutex_destroy(&shared->mutex);
    for (int i = 0; i < (int)shared->config->threads; i++)
        claim_cleanup(&shared->claims[i]);
    counters_free(shared->counters);
    remembered_free(shared->remembered);
    shared_catalogue_free(shared->catalogue);
    chunk_open_close(&shared->chunks);
    queues_cleanup(&shared->queues);
    told_gauges_cleanup(&shared->gauges);
}

void worker_stop(struct worker_shared *shared)
{
    pthread_mutex_lock(&shared->mutex);
    atomic_store(&shared->stopping, true);
    pthread_cond_broadcast(&shared->stop);
    pthread_mutex_unlock(&shared->mutex);
}

bool worker_is_stopping(const struct worker_shared *shared)
{
    return atomic_load(&shared->stopping);
}

enum status worker_ctx_init(
    struct worker_ctx *ctx, struct worker_shared *shared, int index, const char *role, struct error *err)
{
    const struct worker_config *config = shared->config;
    struct queue_options options = {
        .redis = config->redis,
        .shards = DEFAULT_QUEUES,
        .max_messages = max_messages_per_stream,
    };

    *ctx = (struct worker_ctx){ .shared = shared, .index = index, .now_us = clock_monotonic_us };
    arena_init(&ctx->arena);
    ctx->random = random_bits() + (uint64_t)index;
    options.consumer = arena_format(&ctx->arena, "%s-%s%d", config->name, role, index).data;
    TRY(queue_open(&options, &ctx->queue, err));
    TRY(worker_open(config->postgres, config->name, &ctx->store, err));
    worker_remember(ctx->store, shared->remembered);
    worker_share_catalogue(ctx->store, shared->catalogue);
    worker_use_chunks(ctx->store, chunk_open_used(&shared->chunks));
    return STATUS_OK;
}

void worker_ctx_cleanup(struct worker_ctx *ctx)
{
    queue_close(ctx->queue);
    worker_close(ctx->store);
    arena_cleanup(&ctx->arena);
}

bool worker_publish(struct worker_ctx *ctx, const struct intent *intents, size_t count)
{
    size_t published = 0;

    if (atomic_load(&ctx->shared->streaming) &&
        queue_publish(ctx->queue, intents, count, &published, NULL) != STATUS_OK)
        log_write(LOG_DEBUG, "hints_not_published", NULL);
    return published == count;
}

/* splitmix64, which is random enough to spread retries. */
uint64_t worker_random(struct worker_ctx *ctx)
{
    uint64_t z = (ctx->random += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

bool worker_pause(struct worker_ctx *ctx, int64_t ms)
{
    struct worker_shared *shared = ctx->shared;
    int64_t deadline_us = clock_monotonic_us() + ms * 1000;

    pthread_mutex_lock(&shared->mutex);
    while (
        !atomic_load(&shared->stopping) && condition_wait_until(&shared->stop, &shared->mutex, deadline_us))
        continue;
    pthread_mutex_unlock(&shared->mutex);
    return !worker_is_stopping(shared);
}
