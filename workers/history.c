/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c - see the header.
 */
#include "workers/history.h"

#include "base/log.h"
#include "store/connection/remembered.h"

void history_recall(struct worker_shared *shared, struct queue *queue)
{
    struct str hint;
    ARENA_SCOPE arena;

    arena_init(&arena);
    if (remembered_wants_hint(shared->remembered) && queue_recall(queue, &arena, &hint, NULL) == STATUS_OK)
        remembered_offer(shared->remembered, hint);
}

/*
 * If this pass fails, the next one repeats it. The relay logs that the database or Redis is not
 * available.
 */
void history_pass(struct worker_ctx *ctx)
{
    struct remembered *remembered = ctx->shared->remembered;
    struct error err = { 0 };
    struct str hint;
    int64_t epoch;
    ARENA_SCOPE arena;

    arena_init(&arena);
    history_recall(ctx->shared, ctx->queue);
    if (worker_look_at_history(ctx->store, &err) == STATUS_OK && remembered_hint(remembered, &arena, &hint) &&
        queue_remember(ctx->queue, hint, &err) != STATUS_OK)
        log_event(LOG_DEBUG, "keep_history_failed", log_text("why", err.message));
    if (remembered_take_raise(remembered, &epoch))
        log_event(LOG_WARN, "epoch_raised", log_text("why", "the database was restored or has failed over"),
            log_number("epoch", epoch));
}
