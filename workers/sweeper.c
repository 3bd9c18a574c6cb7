/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweeper.c - a round consists of bounded pieces; between two of them a stop is noticed.
 */
#include "workers/sweeper.h"

#include "base/log.h"
#include "domain/limits.h"
#include "store/background/sweep.h"
#include "store/catalogue/period_tables.h"
#include "store/connection/stalled_sessions.h"
#include "workers/history.h"
#include "workers/worker.h"

enum {
    DEAD_ROW_AGE_S = 3600,
    PIECE_PAUSE_MS = 20,
    STANDING_EVERY_MS = 2000,
    GAUGES_EVERY_MS = 5000,
    GAUGES_SHARE = 50, /* counting takes at most 1/50 of the time */
};

/*
 * Duties of every worker, with or without leases; they are also done between the pieces of a round.
 */
struct duties {
    int64_t next_standing_us, next_history_us, next_gauges_us;
};

/* Every worker does this: the stalled session may be that of the worker with the leases. */
static void end_stalled(struct worker_ctx *ctx)
{
    struct stalled_sessions ended = { 0 };
    struct error err = { 0 };

    if (worker_end_stalled(ctx->store, &ended, &err) != STATUS_OK)
        log_event(LOG_DEBUG, "end_stalled_sessions_failed", log_text("why", err.message));
    else if (ended.count > 0)
        log_event(LOG_WARN, "ended_stalled_sessions", log_number("sessions", ended.count),
            log_text("example", ended.example));
}

/* The pause grows with the time that counting takes. */
static void count_gauges(struct worker_ctx *ctx, struct duties *duties)
{
    int64_t began_us = ctx->now_us(), pause_us;

    told_gauges_pass(ctx);
    pause_us = (ctx->now_us() - began_us) * GAUGES_SHARE;
    duties->next_gauges_us =
        ctx->now_us() + (pause_us > GAUGES_EVERY_MS * 1000 ? pause_us : GAUGES_EVERY_MS * 1000);
}

static void do_duties(struct worker_ctx *ctx, struct duties *duties)
{
    if (ctx->now_us() >= duties->next_history_us) {
        duties->next_history_us = ctx->now_us() + HISTORY_EVERY_MS * 1000;
        history_pass(ctx);
    }
    if (ctx->now_us() >= duties->next_standing_us) {
        duties->next_standing_us = ctx->now_us() + STANDING_EVERY_MS * 1000;
        end_stalled(ctx);
    }
    if (ctx->now_us() >= duties->next_gauges_us && ctx->shared->config->metrics_listen)
        count_gauges(ctx, duties);
}

static void sweep_round(struct worker_ctx *ctx, struct duties *duties)
{
    const struct sweep_ages ages = { .dead_row_s = DEAD_ROW_AGE_S,
        .transaction_s = LIMIT_TRANSACTION_RETENTION_S,
        .request_s = ctx->shared->config->request_retention_s,
        .change_s = ctx->shared->config->change_retention_s,
        .audit_s = ctx->shared->config->audit_retention_s,
        .chunk_s = ctx->shared->config->chunk_retention_s };
    struct sweep_counts counts = { 0 };
    struct error err = { 0 };
    bool more = true;

    while (more && worker_pause(ctx, PIECE_PAUSE_MS)) {
        int64_t chunks_before = counts.blob_chunks;
        enum status status;

        more = false;
        do_duties(ctx, duties);
        status = sweep_run(ctx->store, &ages, &counts, &more, &err);
        metrics_count(ctx->shared, WORKER_CHUNKS_REMOVED, (size_t)(counts.blob_chunks - chunks_before));
        if (status != STATUS_OK) {
            outage_failed(&ctx->outages.sweep, "sweep", &err, ctx->now_us());
            return;
        }
    }
    outage_worked(&ctx->outages.sweep, "sweep", ctx->now_us());
    if (counts.expired + counts.dead_rows + counts.markers + counts.transactions + counts.requests +
            counts.changes + counts.audits + counts.blob_parts + counts.blob_chunks >
        0)
        log_event(LOG_INFO, "swept", log_number("expired", counts.expired),
            log_number("dead_rows", counts.dead_rows), log_number("markers", counts.markers),
            log_number("transactions", counts.transactions), log_number("requests", counts.requests),
            log_number("changes", counts.changes), log_number("audits", counts.audits),
            log_number("blob_parts", counts.blob_parts), log_number("blob_chunks", counts.blob_chunks));
}

/* An account whose quota is used up is told of in each round. */
static void keep_period_tables(struct worker_ctx *ctx)
{
    struct period_counts counts = { 0 };
    struct error err = { 0 };

    if (period_tables_keep(ctx->store, &counts, &err) != STATUS_OK) {
        outage_failed(&ctx->outages.sweep, "sweep", &err, ctx->now_us());
        return;
    }
    if (counts.made + counts.dropped > 0)
        log_event(LOG_INFO, "kept_period_tables", log_number("made", counts.made),
            log_number("dropped", counts.dropped));
    if (counts.refused > 0)
        log_event(LOG_WARN, "period_tables_refused", log_number("tables", counts.refused),
            log_text("why", counts.example.message));
}

void *sweeper_thread(void *argument)
{
    struct worker_ctx *ctx = argument;
    struct duties duties = { 0 };
    int64_t round_us = ctx->shared->config->sweep_s * 1000000;
    int64_t next_round_us = ctx->now_us() + round_us;
    int64_t pause_ms = round_us / 1000 < HISTORY_EVERY_MS ? round_us / 1000 : HISTORY_EVERY_MS;

    while (worker_pause(ctx, pause_ms)) {
        do_duties(ctx, &duties);
        if (ctx->now_us() < next_round_us)
            continue;
        if (atomic_load(&ctx->shared->held[0])) {
            keep_period_tables(ctx);
            sweep_round(ctx, &duties);
        }
        next_round_us = ctx->now_us() + round_us;
    }
    return NULL;
}
