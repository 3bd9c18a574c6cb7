/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_counter.c - see the header.
 */
#include "workers/usage_counter.h"

#include "store/background/usage_count.h"
#include "workers/scrubber.h"
#include "workers/worker.h"

enum { IDLE_PAUSE_MS = 1000, FAILURE_PAUSE_MS = 5000 };

struct usage_counter {
    struct worker_ctx *ctx;
    struct usage_count count;
    int64_t began_us; /* when this count, or the last one, began */
};

static int64_t until_next_count_ms(const struct usage_counter *counter)
{
    int64_t next_us = counter->began_us + counter->ctx->shared->config->usage_interval_s * 1000000;
    int64_t left_ms = (next_us - counter->ctx->now_us()) / 1000;

    return left_ms > 0 ? left_ms : 0;
}

/* Count one chunk; returns the pause after it. */
static int64_t do_chunk(struct usage_counter *counter)
{
    struct worker_ctx *ctx = counter->ctx;
    int64_t began_us = ctx->now_us(), rest_ms;
    struct error err = { 0 };
    bool ended = false;

    if (!atomic_load(&ctx->shared->held[0])) {
        usage_count_drop(&counter->count);
        return IDLE_PAUSE_MS;
    }
    if (counter->count.blocks == 0)
        counter->began_us = began_us;
    if (usage_count_chunk(ctx->store, &counter->count, &ended, &err) != STATUS_OK) {
        outage_failed(&ctx->outages.usage, "count_usage", &err, ctx->now_us());
        return FAILURE_PAUSE_MS;
    }
    outage_worked(&ctx->outages.usage, "count_usage", ctx->now_us());
    rest_ms = scrubber_rest_ms(ctx->now_us() - began_us, ctx->shared->config->usage_share);
    return ended && rest_ms < until_next_count_ms(counter) ? until_next_count_ms(counter) : rest_ms;
}

void *usage_counter_thread(void *argument)
{
    struct usage_counter counter = { .ctx = argument };
    const struct worker_config *config = counter.ctx->shared->config;

    if (config->usage_share == 0)
        return NULL;
    while (worker_pause(counter.ctx, do_chunk(&counter)))
        continue;
    usage_count_drop(&counter.count);
    return NULL;
}
