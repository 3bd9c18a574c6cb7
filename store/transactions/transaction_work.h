/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_work.h - how workers carry out the steps of a transaction.
 */
#ifndef STORE_TRANSACTIONS_TRANSACTION_WORK_H
#define STORE_TRANSACTIONS_TRANSACTION_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/intent.h"

struct worker;

/*
 * Carry out the next step of the transaction that an intent of kind INTENT_TRANSACTION names.
 * *finished: no step is left (or the transaction had ended before, or does not exist), and the
 * intent is deleted.
 *
 * If a step fails for a reason of its own, such as its precondition, the transaction ends as
 * FAILED, and the call returns STATUS_OK with *finished true.
 */
MUST_USE enum status transaction_work_step(
    struct worker *store, const struct intent *intent, bool *finished, struct error *err);

#endif
