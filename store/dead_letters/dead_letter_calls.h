/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letter_calls.h - requests about dead letters: listing them, giving them another try, setting them aside. What
 * makes them is in dead_letter_work.c.
 */
#ifndef STORE_DEAD_LETTERS_DEAD_LETTER_CALLS_H
#define STORE_DEAD_LETTERS_DEAD_LETTER_CALLS_H

#include "domain/intents/intent.h"
#include "domain/operations/operation.h"
#include "store/session/session.h"

/* Outcome: out.dead_letters: dead letters, or causes. */
void dead_letter_calls_list(struct session *session, struct operation *operation);

/*
 * Each dead letter in a transaction of its own: it is RETRYING, and its work open, with one commit. A crash leaves each
 * either as it was or redriven. A dry run changes nothing and says what a redrive would change.
 */
void dead_letter_calls_redrive(struct session *session, struct operation *operation);

/* Each in a transaction of its own. The key stays behind; the dead letter stays as the record of why. */
void dead_letter_calls_discard(struct session *session, struct operation *operation);

#endif
