/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction.c - carries transactions on in turns; each of their steps is one commit. The worker that
 * gets the message next does the rest, also if this one stops in between.
 */
#include "store/transactions/transaction_work.h"

#include "base/clock.h"
#include "workers/steps/step_turn.h"
#include "workers/steps/steps.h"

static enum status carry_on(
    struct worker_ctx *ctx, const struct intent *intent, bool *finished, struct error *err)
{
    struct step_trace *trace = traces_begin_step(ctx);
    int64_t begun_ticks = trace ? clock_ticks() : 0;

    TRY(transaction_work_step(ctx->store, intent, trace, finished, err));
    traces_end_step(ctx, trace, begun_ticks);
    return STATUS_OK;
}

static enum status take_turn(struct worker_ctx *ctx, const struct intent *intent, struct error *err)
{
    struct step_turn turn = step_turn_begin(ctx, intent);
    bool finished = false;

    do {
        if (worker_is_stopping(ctx->shared))
            return error_set(err, STATUS_CANCELLED, "the worker is stopping");
        TRY(carry_on(ctx, intent, &finished, err));
        if (finished)
            return STATUS_OK; /* the last step is counted with the message */
        metrics_count(ctx->shared, WORKER_STEPPED, 1);
    } while (step_turn_lasts(&turn));
    step_turn_leave_rest(&turn);
    return STATUS_OK;
}

enum status step_transaction(
    struct worker_ctx *ctx, const struct intent *intents, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        TRY(take_turn(ctx, &intents[i], err));
    return STATUS_OK;
}
