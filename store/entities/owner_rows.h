/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner_rows.h - the owners of values of unique indexes, in the transaction that is open. They are locked behind the
 * rows of entities and before entries.
 */
#ifndef STORE_ENTITIES_OWNER_ROWS_H
#define STORE_ENTITIES_OWNER_ROWS_H

#include "domain/writes/unique_owners.h"
#include "store/session/session.h"

/*
 * One flight: lock or create the rows of all slots (guard G36), read them, and set all owners to the stored ones. The
 * slots are sorted.
 */
MUST_USE enum status owner_rows_lock(
    struct session *session, struct unique_owners *owners, struct error *err);

/* Send what the plan has made of them: rows to update, and rows to delete, those created in vain included. */
MUST_USE enum status owner_rows_send(
    struct session *session, const struct unique_owners *owners, struct error *err);

/* Without locks: whether the entity that asks for a value owns it. A value of no index (NULL) is not looked for. */
struct owner_question {
    const struct index *index;
    struct unique_value value;
    struct entity_key key;
    bool is_owner; /* the answer */
};

/* The question about an entity in this state; of no index if it asks for nothing, or the index is not unique. */
struct owner_question owner_rows_question(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena);

/* One statement for all of them, none if there is nothing to ask. */
MUST_USE enum status owner_rows_ask(
    struct session *session, struct owner_question *questions, size_t count, struct error *err);

#endif
