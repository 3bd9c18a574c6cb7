/*
 * sweeper.c - a round is made of bounded pieces, so that a stop is noticed between two.
 */
#include "workers/sweeper.h"

#include "base/log.h"
#include "domain/limits.h"
#include "workers/worker.h"

enum {
    DEAD_ROW_AGE_S = 3600,
    PIECE_PAUSE_MS = 20,
};

static void sweep_round(struct worker_ctx *ctx)
{
    const struct sweep_ages ages = { .dead_row_s = DEAD_ROW_AGE_S,
        .transaction_s = LIMIT_TRANSACTION_RETENTION_S,
        .request_s = ctx->shared->config->request_retention_s,
        .change_s = ctx->shared->config->change_retention_s };
    struct sweep_counts counts = { 0 };
    struct error err = { 0 };
    bool more = true;

    while (more && worker_pause(ctx, PIECE_PAUSE_MS)) {
        more = false;
        if (worker_sweep(ctx->store, &ages, &counts, &more, &err) != STATUS_OK) {
            log_event(LOG_WARN, "sweep failed status=%s sqlstate=%s why=\"%s\"", status_name(err.status),
                err.sqlstate[0] ? err.sqlstate : "-", err.message);
            return;
        }
    }
    if (counts.expired + counts.dead_rows + counts.markers + counts.transactions + counts.requests +
            counts.changes >
        0)
        log_event(LOG_INFO,
            "swept expired=%lld dead_rows=%lld markers=%lld transactions=%lld requests=%lld "
            "changes=%lld",
            (long long)counts.expired, (long long)counts.dead_rows, (long long)counts.markers,
            (long long)counts.transactions, (long long)counts.requests, (long long)counts.changes);
}

void *sweeper_thread(void *argument)
{
    struct worker_ctx *ctx = argument;

    while (worker_pause(ctx, ctx->shared->config->sweep_s * 1000)) {
        if (atomic_load(&ctx->shared->held[0]))
            sweep_round(ctx);
    }
    return NULL;
}
