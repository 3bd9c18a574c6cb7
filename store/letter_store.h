/*
 * letter_store.h - requests about dead letters: listing them, giving them another try, setting them aside. What
 * makes them is in dead_letters.c.
 */
#ifndef STORE_LETTER_STORE_H
#define STORE_LETTER_STORE_H

#include "domain/intent.h"
#include "domain/operation.h"
#include "store/session.h"

/* Outcome: out.letters: letters, or causes. */
void letter_list_run(struct session *session, struct operation *operation);

/*
 * Each letter in a transaction of its own: it is RETRYING, and its work open, with one commit. A crash leaves each
 * either as it was or redriven. A dry run changes nothing and says what a redrive would change.
 */
void letter_redrive_run(struct session *session, struct operation *operation);

/* Each in a transaction of its own. The key stays behind; the letter stays as the record of why. */
void letter_discard_run(struct session *session, struct operation *operation);

/* What reconciling this key would change. */
MUST_USE enum status reconcile_preview(
    struct session *session, const struct intent *intent, struct letter_difference *out, struct error *err);

#endif
