/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique_owners.h - the owners of the values of unique indexes that a batch of writes touches.
 *
 * An owner is a row of `unique_owners` (index, value, source key). Batches plan twice. First, with `is_collecting`, to
 * learn which values they want and release; then the owner rows of these are locked or created, in their order; then
 * with the owners known, each operation in order of arrival: all values it takes away are released before any that it
 * brings is taken, so two entities can swap theirs in one operation. One that wants a value of another entity is
 * refused.
 *
 * A build may leave entities without ownership, where several have one value. They have no entry, and may be written as
 * long as their value stays what it is.
 *
 * Pure.
 */
#ifndef DOMAIN_WRITES_UNIQUE_OWNERS_H
#define DOMAIN_WRITES_UNIQUE_OWNERS_H

#include "domain/indexes/unique_value.h"
#include "domain/writes/write_plan.h"

/* A value and its owner. */
struct unique_slot {
    const struct index *index;
    struct unique_value value;
    struct entity_key
        offered;     /* becomes the owner if there is none: the first entity that asks for the value */
    bool is_created; /* the offered row is there now */
    bool was_owned, is_owned; /* before this batch, and as planned so far */
    struct entity_key before, owner;
};

struct undo;
struct unique_owners {
    struct arena *arena;
    struct unique_slot *slots; /* sorted by index and value, each once, unless is_collecting */
    size_t count, room;
    bool is_collecting;
    struct undo *undo;  /* of the step under way */
    bool is_incomplete; /* a planned state asks for a value that is not among the slots: plan otherwise */
};

/* Whether some index of the table is unique. */
bool unique_owners_concern(const struct table *table);

/* The end of collecting: the slots in the order of locks. Then the caller fills is_created, or was_owned and before. */
void unique_owners_sort(struct unique_owners *owners);

/* Before the plan begins: set all owners to the stored ones; a created slot has no owner. */
void unique_owners_start(struct unique_owners *owners);

/* The writes of an operation that are decided at once, and the rows they are about, in the states from before them. */
struct unique_step {
    struct plan_row *const *rows;
    const struct row_state *before;
    size_t count;
    const struct operation *operation; /* says which keys the caller may read */
    int64_t due; /* the database's ticks: an entity that expires up to this time does not exist */
};

/*
 * Release and take what the rows' `now` asks for; on failure nothing has changed, and *failed is the row that is
 * refused. While collecting: note the values.
 *
 * STATUS_EXISTS  UNIQUE_VIOLATION; names index and properties, and the owner's key if the caller may read it, but never
 *                the value
 */
MUST_USE enum status unique_owners_take(const struct unique_step *step, size_t *failed, struct error *err);

/* The builder: take the value for the key if it has no owner. false: another entity owns it. */
bool unique_owners_claim(struct unique_owners *owners, const struct index *index,
    const struct unique_value *value, const struct entity_key *key);

/* For builders: note a value that a key asks for. */
void unique_owners_note(struct unique_owners *owners, const struct index *index,
    const struct unique_value *value, const struct entity_key *key);

/* How an entity stood, and stands as planned so far, in an index; true for `owned` if the index is not unique. */
struct unique_standing {
    bool had_value, has_value;
    bool was_owner, is_owner;
};
struct unique_standing unique_owners_standing(
    const struct index *index, const struct plan_row *row, struct arena *arena);

#endif
