/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_renewal.c - see the header.
 */
#include "workers/lease_renewal.h"
#include "store/dead_letters/claim_work.h"

enum { MAX_RENEWALS = 20, PASSES_PER_DURATION = 3 };

static void renew_claim(struct worker_ctx *ctx, struct claim *claim)
{
    int64_t visibility_us = ctx->shared->config->visibility_s * 1000000, since_us;
    struct claim_owner owner = claim_owner(claim);
    struct queue_message *messages;
    struct error err = { 0 };
    enum status status;
    bool from_queue;
    size_t count = claim_copy(claim, &ctx->arena, &messages, &from_queue, &since_us);

    if (count == 0 || ctx->now_us() - since_us > MAX_RENEWALS * visibility_us)
        return;
    status = from_queue ? queue_renew(ctx->queue, str_of(claim->consumer), messages, count, &err)
                        : claim_work_renew(ctx->store, &owner, &err);
    if (status != STATUS_OK)
        outage_failed(&ctx->outages.renew, "renew", &err, ctx->now_us());
    else
        outage_worked(&ctx->outages.renew, "renew", ctx->now_us());
}

void lease_renewal_pass(struct worker_ctx *ctx)
{
    for (int i = 0; i < (int)ctx->shared->config->threads; i++) {
        arena_cleanup(&ctx->arena);
        renew_claim(ctx, &ctx->shared->claims[i]);
    }
}

void *lease_renewal_thread(void *argument)
{
    struct worker_ctx *ctx = argument;
    int64_t duration_ms = ctx->shared->config->visibility_s * 1000;

    if (duration_ms > CLAIM_DURATION_MS)
        duration_ms = CLAIM_DURATION_MS;
    while (worker_pause(ctx, duration_ms / PASSES_PER_DURATION))
        lease_renewal_pass(ctx);
    return NULL;
}
