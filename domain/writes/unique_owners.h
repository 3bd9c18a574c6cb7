/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique_owners.h - the owners of the values of unique indexes that a batch of writes touches.
 *
 * An owner is a row of `unique_owners` (index, value, source key). A batch is planned twice. The
 * first plan, with `is_collecting`, finds the values that the batch needs and releases; then the
 * owner rows of these are locked or created, in their order. In the second plan the owners are
 * known, and operations are planned in order of arrival. Within an operation all values are
 * released before any is taken, so two entities can swap their values. An operation that needs a
 * value of another entity is refused.
 *
 * A build may leave entities without ownership, if several have the same value. These have no
 * entry, and may be written as long as their value does not change.
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
    /* becomes the owner if there is none: the first entity that needs the value */
    struct entity_key offered;
    bool is_created;          /* the offered row was inserted */
    bool was_owned, is_owned; /* before this batch; as planned so far */
    struct entity_key before, owner;
};

struct undo;
struct unique_owners {
    struct arena *arena;
    struct unique_slot *slots; /* sorted by index and value, each once, unless is_collecting */
    size_t count, room;
    bool is_collecting;
    struct undo *undo; /* of the present step */
    /* a planned state needs a value that is not among the slots: the plan must be repeated */
    bool is_incomplete;
};

/* Whether some index of the table is unique. */
bool unique_owners_concern(const struct table *table);

/*
 * End collecting: sort the slots into the order of locks. Then the caller fills is_created, or
 * was_owned and before.
 */
void unique_owners_sort(struct unique_owners *owners);

/* Before the plan begins: set all owners to the stored ones; a created slot has no owner. */
void unique_owners_start(struct unique_owners *owners);

/*
 * The writes of an operation that are decided together, and their rows with the states before them.
 */
struct unique_step {
    struct plan_row *const *rows;
    const struct row_state *before;
    size_t count;
    const struct operation *operation; /* decides which keys the caller may read */
    int64_t due; /* the database's ticks: an entity that expires up to this time does not exist */
};

/*
 * Release and take the values of the rows' `now`. While collecting, only note the values. On
 * failure nothing has changed, and *failed is the row that is refused.
 *
 *   STATUS_EXISTS  UNIQUE_VIOLATION; names index and properties, and the owner's key if the caller may read it, but
 *                  never the value
 */
MUST_USE enum status unique_owners_take(const struct unique_step *step, size_t *failed, struct error *err);

/*
 * For builders: make the key the owner of the value if the value has no owner. false: another
 * entity owns it.
 */
bool unique_owners_claim(struct unique_owners *owners, const struct index *index,
    const struct unique_value *value, const struct entity_key *key);

/* For builders: note the value of a key. */
void unique_owners_note(struct unique_owners *owners, const struct index *index,
    const struct unique_value *value, const struct entity_key *key);

/*
 * Whether an entity was live and the owner of its value in an index before the batch, and as
 * planned so far; `owned` is true if the index is not unique.
 */
struct unique_standing {
    bool had_value, has_value;
    bool was_owner, is_owner;
};
struct unique_standing unique_owners_standing(
    const struct index *index, const struct plan_row *row, struct arena *arena);

#endif
