/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_work.h - how a worker carries out the steps of a transaction.
 */
#ifndef STORE_TRANSACTIONS_TRANSACTION_WORK_H
#define STORE_TRANSACTIONS_TRANSACTION_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/intent.h"
#include "store/session/worker.h"

/*
 * Carry out the next step of the transaction an intent of kind INTENT_TRANSACTION names. *finished: none is
 * left (or it was finished before, or is unknown) and the intent is gone.
 * A step that fails for a reason of its own (its precondition) ends the transaction as FAILED and returns
 * STATUS_OK with *finished true.
 */
MUST_USE enum status transaction_work_step(
    struct worker *store, const struct intent *intent, bool *finished, struct error *err);

#endif
