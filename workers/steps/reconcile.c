/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.c - make the indexes of some source keys agree with them.
 */
#include "store/indexes/reconcile.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "workers/steps/steps.h"

enum status step_reconcile(
    struct worker_ctx *ctx, const struct intent *intents, size_t count, struct error *err)
{
    struct reconcile_counts counts = { 0 };
    struct taken_traces *traces = traces_begin(ctx);
    int64_t begun_ticks = traces ? clock_ticks() : 0;

    FAILPOINT_TRY("worker.before_reconcile", err);
    TRY(reconcile_keys(ctx->store, intents, count, false, &counts, err));
    FAILPOINT("reconcile.after_commit_before_ack");
    traces_end(ctx, traces, count, begun_ticks);
    log_event(LOG_DEBUG, "reconciled", log_number("keys", counts.keys),
        log_number("written", counts.entries_written), log_number("deleted", counts.entries_deleted),
        log_number("intents_removed", counts.intents_removed), log_number("violations", counts.violations));
    return STATUS_OK;
}
