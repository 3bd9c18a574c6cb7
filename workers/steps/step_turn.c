/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_turn.c - see the header.
 */
#include "workers/steps/step_turn.h"

enum {
    TURN_US = 5000,
    POLLED_TURN_US = 100000, /* the rest is found by a scan, which takes longer than a message */
};

struct step_turn step_turn_begin(struct worker_ctx *ctx, const struct intent *intent)
{
    return (struct step_turn){ .ctx = ctx, .intent = intent, .began_us = ctx->now_us() };
}

bool step_turn_lasts(const struct step_turn *turn)
{
    return turn->ctx->now_us() - turn->began_us < (turn->ctx->polled ? POLLED_TURN_US : TURN_US);
}

void step_turn_leave_rest(const struct step_turn *turn)
{
    struct intent rest = *turn->intent;

    turn->ctx->left_rest = true;
    if (turn->ctx->polled)
        return;
    rest.account = worker_account_of(turn->ctx->store, rest.table_id);
    rest.spent_us = turn->ctx->now_us() - turn->began_us;
    (void)worker_publish(turn->ctx, &rest, 1);
}
