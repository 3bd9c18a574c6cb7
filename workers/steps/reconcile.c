/*
 * reconcile.c - make the indexes of some source keys agree with them.
 */
#include "base/failpoint.h"
#include "base/log.h"
#include "workers/steps/steps.h"

enum status step_reconcile(
    struct worker_ctx *ctx, const struct intent *intents, size_t count, struct error *err)
{
    struct reconcile_counts counts = { 0 };

    FAILPOINT_TRY("worker.before_reconcile", err);
    TRY(worker_reconcile(ctx->store, intents, count, false, &counts, err));
    FAILPOINT("reconcile.after_commit_before_ack");
    log_event(LOG_DEBUG,
        "reconciled keys=%lld written=%lld deleted=%lld intents_removed=%lld violations=%lld",
        (long long)counts.keys, (long long)counts.entries_written, (long long)counts.entries_deleted,
        (long long)counts.intents_removed, (long long)counts.violations);
    return STATUS_OK;
}
