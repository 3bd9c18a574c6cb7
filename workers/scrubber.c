/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scrubber.c - a chunk takes mostly time of the database. If the database is busy, a chunk takes
 * longer, and so does the rest after it.
 */
#include "workers/scrubber.h"

#include "store/job_work.h"
#include "workers/worker.h"

enum {
    IDLE_PAUSE_MS = 5000,
    FAILURE_PAUSE_MS = 5000,
    MIN_REST_MS = 1,
};

int64_t scrubber_rest_ms(int64_t busy_us, int64_t share)
{
    int64_t rest_ms = busy_us * (100 - share) / share / 1000;

    return rest_ms > MIN_REST_MS ? rest_ms : MIN_REST_MS;
}

static int64_t do_chunk(struct worker_ctx *ctx)
{
    int64_t began_us = ctx->now_us();
    struct error err = { 0 };
    bool worked = false;

    if (!atomic_load(&ctx->shared->held[0]))
        return IDLE_PAUSE_MS;
    if (job_work_scrub(ctx->store, &worked, &err) != STATUS_OK) {
        outage_failed(&ctx->outages.scrub, "scrub", &err, ctx->now_us());
        return FAILURE_PAUSE_MS;
    }
    outage_worked(&ctx->outages.scrub, "scrub", ctx->now_us());
    if (!worked)
        return IDLE_PAUSE_MS;
    return scrubber_rest_ms(ctx->now_us() - began_us, ctx->shared->config->scrub_share);
}

void *scrubber_thread(void *argument)
{
    struct worker_ctx *ctx = argument;

    if (ctx->shared->config->scrub_share == 0)
        return NULL;
    while (worker_pause(ctx, do_chunk(ctx)))
        continue;
    return NULL;
}
