/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - the work of copy rules: the copies of changed dependents, many of them together; and the
 * visits of changed sources, in turns, so that a source with many dependents does not hold up other
 * work.
 */
#include "store/copies/copy_visit.h"

#include "base/failpoint.h"
#include "base/log.h"
#include "workers/steps/steps.h"

enum { TURN_COMMITS = 10 };

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

/*
 * The rest of a visit comes after the work that waits in the queue now. A lost message does no harm:
 * the relay publishes the intent again.
 */
static void queue_rest(struct worker_ctx *ctx, const struct intent *intent)
{
    size_t published;

    if (atomic_load(&ctx->shared->streaming) &&
        queue_publish(ctx->queue, intent, 1, &published, NULL) != STATUS_OK)
        log_write(LOG_DEBUG, "hints_not_published", NULL);
}

static enum status visit_one(struct worker_ctx *ctx, const struct intent *intent, struct error *err)
{
    struct copy_turn turn = { .intent = intent, .limit = COPY_BATCH_KEYS };

    FAILPOINT_TRY("worker.before_visit", err);
    for (int i = 0; i < TURN_COMMITS && !turn.is_over; i++) {
        if (worker_is_stopping(ctx->shared))
            return error_set(err, STATUS_CANCELLED, "the worker is stopping");
        TRY(copy_visit_step(ctx->store, &turn, err));
    }
    metrics_count(ctx->shared, WORKER_COPIED, (size_t)turn.counts.written);
    log_counts("visited", &turn.counts);
    if (!turn.is_over)
        queue_rest(ctx, intent);
    return STATUS_OK;
}

enum status step_visit(struct worker_ctx *ctx, const struct intent *intents, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        TRY(visit_one(ctx, &intents[i], err));
    return STATUS_OK;
}
