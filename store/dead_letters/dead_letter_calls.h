/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letter_calls.h - callers' requests about dead letters: list, redrive, discard.
 * dead_letter_work.c makes dead letters.
 */
#ifndef STORE_DEAD_LETTERS_DEAD_LETTER_CALLS_H
#define STORE_DEAD_LETTERS_DEAD_LETTER_CALLS_H

#include "domain/intents/intent.h"
#include "domain/operations/operation.h"

struct session;

/* The outcome is out.dead_letters: dead letters, or causes with their counts. */
void dead_letter_calls_list(struct session *session, struct operation *operation);

/*
 * Redrive each dead letter in a transaction of its own, which makes it RETRYING and adds its
 * intent. After a crash each is either unchanged or redriven. For a dry run see redrive_preview.h.
 */
void dead_letter_calls_redrive(struct session *session, struct operation *operation);

/*
 * Discard each dead letter in a transaction of its own. The work is not done; the dead letter
 * stays, with the reason.
 */
void dead_letter_calls_discard(struct session *session, struct operation *operation);

/* The dead letters that an operation selects, up to its limit, in its arena. */
MUST_USE enum status dead_letter_calls_read(struct session *session, const struct operation *operation,
    struct outcome_dead_letters *out, struct error *err);

/* The intent that puts a dead letter back into work, without an id. Its key is that of the dead letter. */
struct intent dead_letter_calls_intent(const struct dead_letter_view *dead_letter);

#endif
