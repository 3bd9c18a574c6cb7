/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_mover.c - see the header. One worker at a time moves chunks, the one that holds the first bucket range: a batch
 * may take longer than the claim on its operation. It gives way to ordinary work as the builder does.
 */
#include "workers/chunk_mover.h"

#include "domain/intents/backoff.h"
#include "store/job_work.h"
#include "workers/worker.h"

enum {
    IDLE_PAUSE_MS = 1000,
    BATCH_PAUSE_MS = 1,
    BUSY_PAUSE_MS = 200, /* between batches while the lag is high */
    FAILURE_PAUSE_MS = 2000,
    HIGH_LAG_US = 5000000,
};

/* Each attempt at a store that is down leaves strays. */
static const struct backoff store_pause_ms = { .first = FAILURE_PAUSE_MS, .longest = 60000 };

static bool is_stopping(const void *who)
{
    return worker_is_stopping(who);
}

static int64_t pause_after_failure(struct chunk_mover *mover, bool is_store_down)
{
    if (!is_store_down)
        return FAILURE_PAUSE_MS;
    return backoff_pause(&store_pause_ms, ++mover->store_failures, worker_random(mover->ctx));
}

int64_t chunk_mover_turn(struct chunk_mover *mover)
{
    struct worker_ctx *ctx = mover->ctx;
    struct error err = { 0 };
    struct chunk_turn turn;

    if (!atomic_load(&ctx->shared->held[0]))
        return IDLE_PAUSE_MS;
    if (job_work_move_chunks(ctx->store, is_stopping, ctx->shared, &turn, &err) != STATUS_OK) {
        if (!worker_is_stopping(ctx->shared))
            outage_failed(&ctx->outages.move, "move_chunks", &err, ctx->now_us());
        return pause_after_failure(mover, turn.is_store_down);
    }
    mover->store_failures = 0;
    outage_worked(&ctx->outages.move, "move_chunks", ctx->now_us());
    if (!turn.worked)
        return IDLE_PAUSE_MS;
    return atomic_load(&ctx->shared->lag_us) > HIGH_LAG_US ? BUSY_PAUSE_MS : BATCH_PAUSE_MS;
}

void *chunk_mover_thread(void *argument)
{
    struct chunk_mover mover = { .ctx = argument };

    while (worker_pause(mover.ctx, chunk_mover_turn(&mover)))
        continue;
    return NULL;
}
