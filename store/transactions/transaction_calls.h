/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_calls.h - requests about transactions: submit, get, cancel, list. Each function gives
 * one operation its outcome. Workers carry out the steps: see transaction_work_step.
 */
#ifndef STORE_TRANSACTIONS_TRANSACTION_CALLS_H
#define STORE_TRANSACTIONS_TRANSACTION_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * Insert the transaction and its intent in one commit. If a transaction with this id exists, it is
 * the answer if it has the same steps; otherwise TRANSACTION_ID_REUSED. After the commit the
 * observer gets the intent.
 */
void transaction_calls_submit(
    struct session *session, struct operation *operation, const struct commit_observer *observer);

/* Outcome: out.transaction, with one transaction. TRANSACTION_NOT_FOUND. */
void transaction_calls_get(struct session *session, struct operation *operation);

/*
 * Cancel a transaction of which no step has run. Outcome: out.transaction, in its new state; a
 * transaction that was cancelled before is not changed. TRANSACTION_NOT_FOUND, TRANSACTION_STARTED.
 */
void transaction_calls_cancel(struct session *session, struct operation *operation);

/* List transactions, without their steps and timelines. */
void transaction_calls_list(struct session *session, struct operation *operation);

/* The columns of transaction_get.sql and transaction_lock.sql. */
enum transaction_column {
    TRANSACTION_COLUMN_ID,
    TRANSACTION_COLUMN_STATE,
    TRANSACTION_COLUMN_STEPS,
    TRANSACTION_COLUMN_STEPS_DONE,
    TRANSACTION_COLUMN_TIMELINE,
    TRANSACTION_COLUMN_SUBMITTED,
    TRANSACTION_COLUMN_REVISION,
    TRANSACTION_COLUMN_EFFECT, /* of transaction_lock.sql alone */
};

/*
 * Read one row of transaction_get or transaction_lock, copied into the arena. STATUS_INTERNAL: the
 * stored bytes cannot be decoded.
 */
MUST_USE enum status transaction_calls_read_row(const PGresult *result, int row, struct str account,
    struct arena *arena, struct transaction *out, struct error *err);

/*
 * Send the update of a locked transaction's state, steps done and timeline. finished: ticks, 0 if
 * it has not ended.
 */
MUST_USE enum status transaction_calls_send_update(
    struct session *session, const struct transaction *transaction, int64_t finished, struct error *err);

/* Add the columns that identify a transaction, in this order: account, id, bucket. */
void transaction_calls_add_key(struct pg_params *params, struct str account, struct str id);

/* The bucket of a transaction and its intent. */
int16_t transaction_calls_bucket(struct str id);

#endif
