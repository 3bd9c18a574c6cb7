/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner_rows.h - the owners of values of unique indexes, in the open transaction. In the order of
 * locks they come after the rows of entities and before entries.
 */
#ifndef STORE_ENTITIES_OWNER_ROWS_H
#define STORE_ENTITIES_OWNER_ROWS_H

#include "domain/writes/unique_owners.h"

struct session;

/*
 * In one flight, lock or create the rows of all slots (guard G36), read them, and set all owners to
 * the stored ones. The slots must be sorted.
 */
MUST_USE enum status owner_rows_lock(
    struct session *session, struct unique_owners *owners, struct error *err);

/*
 * The same for builders, which find few owners: a second flight asks for those that exist.
 */
MUST_USE enum status owner_rows_lock_new(
    struct session *session, struct unique_owners *owners, struct error *err);

/*
 * Send what the plan has decided: the rows to update, and the rows to delete, which include those
 * that were created in vain.
 */
MUST_USE enum status owner_rows_send(
    struct session *session, const struct unique_owners *owners, struct error *err);

/*
 * A question without locks: does the entity with this key own this value? If index is NULL, nothing
 * is looked up.
 */
struct owner_question {
    const struct index *index;
    struct unique_value value;
    struct entity_key key;
    bool is_owner; /* the answer */
};

/*
 * The question for an entity in this state. Its index is NULL if the index is not unique or gives
 * the entity no value.
 */
struct owner_question owner_rows_question(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena);

/* Answer all questions with one statement, none if no question has an index. */
MUST_USE enum status owner_rows_ask(
    struct session *session, struct owner_question *questions, size_t count, struct error *err);

#endif
