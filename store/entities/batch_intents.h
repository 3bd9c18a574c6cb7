/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_intents.h - the intents that a batch of writes leaves: made from the plan, written with the writes, and told
 * where they and their sources lie, for the workers (domain/intents/row_ctid.h).
 */
#ifndef STORE_ENTITIES_BATCH_INTENTS_H
#define STORE_ENTITIES_BATCH_INTENTS_H

#include "domain/intents/intent.h"
#include "store/entities/write_set.h"

struct session;

/* Make the intents, and send them, if there are any. intents has room for set->intent_count of them. */
MUST_USE enum status batch_intents_send(struct session *session, const struct write_set *set,
    struct intent *intents, size_t *count, struct error *err);

/*
 * As session_take_commit, for a flight that begins with batch_intents_send. If the set was read first, the
 * answer of entity_update, if it was sent, follows that of the intents; a blind set has its written_ctids
 * already. Fills the ctids of the intents, unless the answer was lost.
 */
MUST_USE enum status batch_intents_take_commit(
    struct session *session, struct write_set *set, struct intent *intents, size_t count, struct error *err);

#endif
