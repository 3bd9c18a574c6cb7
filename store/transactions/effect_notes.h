/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect_notes.h - the statements about effects outside the database (domain/transactions/effect.h): their notes, and
 * the ranges of files that steps append to.
 */
#ifndef STORE_TRANSACTIONS_EFFECT_NOTES_H
#define STORE_TRANSACTIONS_EFFECT_NOTES_H

#include "domain/transactions/effect.h"

struct session;

/* The next bytes of a file. */
struct appended_range {
    struct str account, path;
    size_t bytes;
};

/* Send the note of the step under way; the transaction is RUNNING from then on. */
MUST_USE enum status effect_notes_send(struct session *session, const struct transaction *transaction,
    const struct effect_note *note, struct error *err);

/*
 * Guard G52: give the next bytes of a file to one step, in the transaction that is open, and to no other step. Fills
 * note->offset and note->min_size; or refusal, if the file or their number would be too large.
 */
MUST_USE enum status effect_notes_reserve(struct session *session, const struct appended_range *range,
    struct effect_note *note, struct error *refusal, struct error *err);

/* Send that a step has written its range, which ends here. */
MUST_USE enum status effect_notes_send_settled(
    struct session *session, struct str account, struct str path, int64_t end, struct error *err);

#endif
