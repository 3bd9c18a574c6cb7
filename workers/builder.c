/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.c - jobs give way to ordinary work: while its lag is high, there are longer pauses
 * between chunks.
 */
#include "workers/builder.h"

#include "base/log.h"
#include "store/job_work.h"
#include "store/jobs/crew.h"
#include "workers/worker.h"

enum {
    IDLE_PAUSE_MS = 100,
    CHUNK_PAUSE_MS = 1,
    BUSY_PAUSE_MS = 200, /* between chunks while the lag is high */
    FAILURE_PAUSE_MS = 1000,
    HIGH_LAG_US = 5000000,
};

static int64_t do_chunk(struct worker_ctx *ctx)
{
    bool is_busy = atomic_load(&ctx->shared->lag_us) > HIGH_LAG_US;
    struct error err = { 0 };
    bool worked = false;

    crew_give_way(ctx->store, is_busy);
    if (job_work_run(ctx->store, &worked, &err) != STATUS_OK) {
        outage_failed(&ctx->outages.chunk, "operation_chunk", &err, ctx->now_us());
        return FAILURE_PAUSE_MS;
    }
    outage_worked(&ctx->outages.chunk, "operation_chunk", ctx->now_us());
    if (!worked)
        return IDLE_PAUSE_MS;
    return is_busy ? BUSY_PAUSE_MS : CHUNK_PAUSE_MS;
}

void *builder_thread(void *argument)
{
    struct worker_ctx *ctx = argument;
    struct error err = { 0 };

    if (crew_open(ctx->store, &err) != STATUS_OK)
        log_event(LOG_WARN, "no_crew", log_text("why", err.message),
            log_text("then", "jobs are done by one thread"));
    while (worker_pause(ctx, do_chunk(ctx)))
        continue;
    crew_close(ctx->store);
    return NULL;
}
