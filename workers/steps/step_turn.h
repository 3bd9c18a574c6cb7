/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_turn.h - work that takes many commits, such as a transaction of a hundred steps, is done in
 * short turns, so that it does not hold up the work of others.
 */
#ifndef WORKERS_STEPS_STEP_TURN_H
#define WORKERS_STEPS_STEP_TURN_H

#include "workers/worker.h"

struct step_turn {
    struct worker_ctx *ctx;
    const struct intent *intent;
    int64_t began_us;
};

struct step_turn step_turn_begin(struct worker_ctx *ctx, const struct intent *intent);

/* Whether there is time for another commit; the first one needs none. */
bool step_turn_lasts(const struct step_turn *turn);

/*
 * Leave the rest of the work (ctx->left_rest): publish its intent again, at the cost of this turn. A lost message does
 * no harm: the relay publishes the intent later. Work that was claimed from the database is found there
 * again.
 */
void step_turn_leave_rest(const struct step_turn *turn);

#endif
