/* SPDX-License-Identifier: Apache-2.0 */
/* stray_remover.c - see the header. */
#include "workers/stray_remover.h"

#include "base/log.h"
#include "store/blobs/stray_remove.h"
#include "workers/worker.h"

static bool is_stopping(const void *who)
{
    return worker_is_stopping(who);
}

/* Remove what is due now, in rounds that are bounded. */
static void remove_strays(struct worker_ctx *ctx)
{
    struct stray_round round = { .is_stopping = is_stopping, .who = ctx->shared, .more = true };

    while (round.more && !worker_is_stopping(ctx->shared)) {
        struct error err = { 0 };
        enum status status = stray_remove_round(ctx->store, &round, &err);

        metrics_count(ctx->shared, WORKER_STRAYS_REMOVED, (size_t)round.removed);
        metrics_count(ctx->shared, WORKER_STRAYS_FAILED, (size_t)round.failed);
        if (status != STATUS_OK || round.failed > 0) {
            outage_failed(&ctx->outages.strays, "remove_strays", status != STATUS_OK ? &err : &round.failure,
                ctx->now_us());
            return;
        }
        outage_worked(&ctx->outages.strays, "remove_strays", ctx->now_us());
    }
}

void *stray_remover_thread(void *argument)
{
    struct worker_ctx *ctx = argument;

    while (worker_pause(ctx, ctx->shared->config->sweep_s * 1000))
        if (atomic_load(&ctx->shared->held[0]))
            remove_strays(ctx);
    return NULL;
}
