/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect.h - steps whose effect is outside the database, and so cannot commit with the step's state. Pure.
 *
 *   note     a commit: the transaction is RUNNING, and the note says what the effect will be (guard G15)
 *   perform  the effect, which changes nothing if it is repeated (guard G16); of calls the receiver has to see to that
 *   settle   a commit: the receipt and the step's state, unless another worker has settled (guard G17)
 *
 * A worker that stops anywhere in between leaves the note. The worker that gets the message next performs the same
 * effect again, from the note and not from the entity, which may have changed.
 */
#ifndef DOMAIN_TRANSACTIONS_EFFECT_H
#define DOMAIN_TRANSACTIONS_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "domain/entities/etag.h"
#include "domain/transactions/transaction.h"

/* What the first commit stores. */
struct effect_note {
    int32_t step;
    struct str content; /* the entity as it was, as it will be written; of other steps empty */
    struct etag entity; /* its version */
    int64_t offset;     /* of appends: the range of the file that is this step's alone (guard G52) */
    int64_t min_size;   /* of appends: the least size of the file, which steps that are done have appended */
};

/* What is to be performed. */
struct effect {
    struct str account, transaction_id;
    struct step step;
    struct effect_note note;
};

/* What is wrong with a step that has an effect, as the end of a sentence that begins with "step 3"; NULL: nothing. */
const char *effect_problem(const struct step *step);

/* What is written: the content of the step or of the note. */
struct str effect_content(const struct effect *effect);

/* The SHA-256, in the arena. */
struct str effect_digest(struct str bytes, struct arena *arena);

/*
 * 64 hexadecimal digits made of account, transaction and number of the step: equal for all attempts of the step, and
 * for no other step.
 */
struct str effect_idempotency_key(const struct effect *effect, struct arena *arena);

/* A copy of the effect whose texts are in the arena. The step's condition and properties are not copied. */
struct effect effect_copy(const struct effect *effect, struct arena *arena);

/* The stored form. Decoded texts borrow the bytes; false: the bytes are not of this form. */
struct str effect_note_encode(const struct effect_note *note, struct arena *arena);
bool effect_note_decode(struct str bytes, struct arena *arena, struct effect_note *out);

#endif
