/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effects.h - performs the effects of steps outside the database for one consumer.
 *
 * An effect may take long if the other side is slow. So accounts share places for effects (effect_shares.h); a
 * transaction whose effect has no place is released, and comes again. So is one with a call when its consumer has
 * called for longer than one call may take in this turn.
 */
#ifndef WORKERS_EFFECTS_EFFECTS_H
#define WORKERS_EFFECTS_EFFECTS_H

#include "store/transactions/transaction_work.h"

struct worker_ctx;

/* The effects of this consumer, for transaction_work_use. */
struct effects effects_of(struct worker_ctx *ctx);

#endif
