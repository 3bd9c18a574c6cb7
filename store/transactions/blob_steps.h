/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_steps.h - the steps that put and delete blobs, in the transaction that records them.
 *
 * A put has its content from the effect before: complete, without a name. Functions with a `refusal` fail only if the
 * database does; refusal has the reason for which the step itself fails.
 */
#ifndef STORE_TRANSACTIONS_BLOB_STEPS_H
#define STORE_TRANSACTIONS_BLOB_STEPS_H

#include "domain/blobs/blob.h"
#include "domain/transactions/transaction.h"

struct session;

/* A step about a blob of the account. */
struct blob_step {
    struct str account;
    const struct step *step;
    struct arena *arena;
};

/* What a locked name points to. */
struct blob_slot {
    bool has_content;
    struct blob_id content;
};

/* Lock the name, which is made if it is missing, and test the step's condition. */
MUST_USE enum status blob_steps_lock(struct session *session, const struct blob_step *blob,
    struct blob_slot *slot, struct error *refusal, struct error *err);

/* The step fails: remove the locked name if it was made for it. */
MUST_USE enum status blob_steps_leave(
    struct session *session, const struct blob_step *blob, const struct blob_slot *slot, struct error *err);

/*
 * Point the locked name to the content of the receipt, and discard what it pointed to before.
 *
 * STATUS_UNAVAILABLE  the content was collected, since the worker has waited too long: the step begins again
 */
MUST_USE enum status blob_steps_point(struct session *session, const struct blob_step *blob,
    const struct blob_slot *slot, const struct receipt *receipt, struct error *err);

/* Delete the blob; the attempt gets the ETag that it had, or says that there was none. */
MUST_USE enum status blob_steps_delete(struct session *session, const struct blob_step *blob,
    struct attempt *attempt, struct error *refusal, struct error *err);

#endif
