/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_mover.c - see the header. One worker at a time moves chunks, the one that holds the first bucket range: a batch
 * may take longer than the claim on its operation. It gives way to ordinary work as the builder does.
 */
#include "workers/chunk_mover.h"

#include "store/job_work.h"
#include "workers/worker.h"

enum {
    IDLE_PAUSE_MS = 1000,
    BATCH_PAUSE_MS = 1,
    BUSY_PAUSE_MS = 200, /* between batches while the lag is high */
    FAILURE_PAUSE_MS = 2000,
    HIGH_LAG_US = 5000000,
};

static bool is_stopping(const void *who)
{
    return worker_is_stopping(who);
}

static int64_t move_some(struct worker_ctx *ctx)
{
    struct error err = { 0 };
    bool worked = false;

    if (!atomic_load(&ctx->shared->held[0]))
        return IDLE_PAUSE_MS;
    if (job_work_move_chunks(ctx->store, is_stopping, ctx->shared, &worked, &err) != STATUS_OK) {
        if (!worker_is_stopping(ctx->shared))
            outage_failed(&ctx->outages.move, "move_chunks", &err, ctx->now_us());
        return FAILURE_PAUSE_MS;
    }
    outage_worked(&ctx->outages.move, "move_chunks", ctx->now_us());
    if (!worked)
        return IDLE_PAUSE_MS;
    return atomic_load(&ctx->shared->lag_us) > HIGH_LAG_US ? BUSY_PAUSE_MS : BATCH_PAUSE_MS;
}

void *chunk_mover_thread(void *argument)
{
    struct worker_ctx *ctx = argument;

    while (worker_pause(ctx, move_some(ctx)))
        continue;
    return NULL;
}
