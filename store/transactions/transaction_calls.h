/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_calls.h - requests about transactions: submitting, reading, listing. Each function gives one
 * operation its outcome. The steps are carried out by workers: see transaction_work_step.
 */
#ifndef STORE_TRANSACTIONS_TRANSACTION_CALLS_H
#define STORE_TRANSACTIONS_TRANSACTION_CALLS_H

#include "domain/operations/operation.h"
#include "store/entities/write_batch.h"
#include "store/session/session.h"

/*
 * The row and its intent in one commit. A transaction of this id that is there already is the answer when its
 * steps are the same, else TRANSACTION_ID_REUSED. The observer is given the intent after the commit.
 */
void transaction_calls_submit(
    struct session *session, struct operation *operation, const struct commit_observer *observer);

/* Outcome: out.transaction, one of them. TRANSACTION_NOT_FOUND. */
void transaction_calls_get(struct session *session, struct operation *operation);

/*
 * Outcome: out.transaction, as it is now. Only while no step has run; what is cancelled already stays so.
 * TRANSACTION_NOT_FOUND, TRANSACTION_STARTED.
 */
void transaction_calls_cancel(struct session *session, struct operation *operation);

/* Without steps and timelines. */
void transaction_calls_list(struct session *session, struct operation *operation);

/* Of transaction_get.sql and transaction_lock.sql. */
enum transaction_column {
    TRANSACTION_COLUMN_ID,
    TRANSACTION_COLUMN_STATE,
    TRANSACTION_COLUMN_STEPS,
    TRANSACTION_COLUMN_STEPS_DONE,
    TRANSACTION_COLUMN_TIMELINE,
    TRANSACTION_COLUMN_SUBMITTED,
    TRANSACTION_COLUMN_REVISION,
};

/*
 * One row of transaction_get or transaction_lock; everything is copied into the arena.
 * STATUS_INTERNAL: the stored bytes cannot be read.
 */
MUST_USE enum status transaction_calls_read_row(const PGresult *result, int row, struct str account,
    struct arena *arena, struct transaction *out, struct error *err);

/* State, steps done and timeline of a locked transaction; finished: ticks, 0 while it has not ended. */
MUST_USE enum status transaction_calls_send_update(
    struct session *session, const struct transaction *transaction, int64_t finished, struct error *err);

/* The columns that name a transaction, in this order: account, id, bucket. */
void transaction_calls_add_key(struct pg_params *params, struct str account, struct str id);

/* Where a transaction and its intent live. */
int16_t transaction_calls_bucket(struct str id);

#endif
