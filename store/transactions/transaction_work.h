/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_work.h - how workers carry out the steps of a transaction.
 */
#ifndef STORE_TRANSACTIONS_TRANSACTION_WORK_H
#define STORE_TRANSACTIONS_TRANSACTION_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/intents/intent.h"

struct step_trace;
struct worker;
struct entity;
struct effect;
struct receipt;
struct buf;

/* How the owner of a worker performs the effects of steps outside the database. */
struct effects {
    void *context;
    /* Append the entity as it will be written. */
    void (*write_entity)(void *context, const struct entity *entity, struct buf *out);
    /*
     * Perform an effect (domain/transactions/effect.h); no transaction is open meanwhile. A repeat must change nothing.
     * The texts of *receipt may lie in the arena.
     */
    enum status (*perform)(void *context, const struct effect *effect, struct arena *arena,
        struct receipt *receipt, struct error *err);
};

/* Borrowed. */
void transaction_work_use(struct worker *store, const struct effects *effects);

/*
 * Carry out the next step of the transaction that an intent of kind INTENT_TRANSACTION names.
 * *finished: no step is left (or the transaction had ended before, or does not exist), and the
 * intent is deleted. trace: filled if the step's effect, or its failure, has committed; NULL: it
 * is not wanted.
 *
 * A step with an effect outside the database is several transactions: see domain/transactions/effect.h. If the effect
 * fails, the call returns its status, and the step is repeated from its note.
 *
 * If a step fails for a reason of its own, such as its precondition, the transaction ends as
 * FAILED, and the call returns STATUS_OK with *finished true.
 */
MUST_USE enum status transaction_work_step(struct worker *store, const struct intent *intent,
    struct step_trace *trace, bool *finished, struct error *err);

#endif
