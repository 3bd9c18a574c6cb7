/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - the work of copy rules: the copies of changed dependents, many of them together; and the
 * visits of changed sources, in turns, so that a source with many dependents does not hold up other
 * work.
 */
#include "store/copies/copy_visit.h"

#include "base/failpoint.h"
#include "base/log.h"
#include "workers/steps/step_turn.h"
#include "workers/steps/steps.h"

static void log_counts(const char *event, const struct copy_counts *counts)
{
    log_event(LOG_DEBUG, event, log_number("keys", counts->keys), log_number("written", counts->written),
        log_number("refused", counts->refused), log_number("intents_removed", counts->intents_removed));
}

enum status step_copy(struct worker_ctx *ctx, const struct intent *intents, size_t count, struct error *err)
{
    struct copy_counts counts = { 0 };

    FAILPOINT_TRY("worker.before_copy", err);
    TRY(copy_work_keys(ctx->store, intents, count, &counts, err));
    metrics_count(ctx->shared, WORKER_COPIED, (size_t)counts.written);
    log_counts("copied", &counts);
    return STATUS_OK;
}

static enum status visit_one(struct worker_ctx *ctx, const struct intent *intent, struct error *err)
{
    struct copy_turn turn = { .intent = intent, .limit = COPY_BATCH_KEYS };
    struct step_turn time = step_turn_begin(ctx, intent);

    FAILPOINT_TRY("worker.before_visit", err);
    do {
        if (worker_is_stopping(ctx->shared))
            return error_set(err, STATUS_CANCELLED, "the worker is stopping");
        TRY(copy_visit_step(ctx->store, &turn, err));
    } while (!turn.is_over && step_turn_lasts(&time));
    metrics_count(ctx->shared, WORKER_COPIED, (size_t)turn.counts.written);
    log_counts("visited", &turn.counts);
    if (!turn.is_over)
        step_turn_leave_rest(&time);
    return STATUS_OK;
}

enum status step_visit(struct worker_ctx *ctx, const struct intent *intents, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        TRY(visit_one(ctx, &intents[i], err));
    return STATUS_OK;
}
