/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range_owners.h - who owns the values of unique indexes that are being built, for a chunk of a build
 * (build_walk.c): all values of the chunk are locked at once.
 *
 *     build_range_owners_note
 *     build_range_owners_await
 *     build_range_owners_lock, behind the locks of the state rows
 *     build_range_owners_decide, when the versions of the entities have been read again
 *     build_range_owners_send, before the entries
 */
#ifndef STORE_BUILDS_BUILD_RANGE_OWNERS_H
#define STORE_BUILDS_BUILD_RANGE_OWNERS_H

#include "store/builds/build_range.h"

/*
 * Find the indexes whose owners this turn decides, those of its builds, and note the values that the entities ask for.
 * Owners of other unique indexes are not changed: a key that asks for an entry of one is left to a reconcile.
 */
void build_range_owners_note(struct build_range *range, struct arena *arena);

/* Whether an entry of this index may be planned here: it is not unique, or its owners are decided by this turn. */
bool build_range_owners_may_plan(const struct build_range *range, int64_t index_id);

/* Wait until the chunks before this one have ended: owners are decided in the order of keys. */
MUST_USE enum status build_range_owners_await(const struct build_range *range, struct error *err);

/* One flight: lock or create the owners of all values, sorted (guard G36). None if no index is unique. */
MUST_USE enum status build_range_owners_lock(
    struct session *session, struct build_range *range, struct error *err);

/*
 * In the order of keys, entities that have not changed since they were read get their values if these have no owner;
 * sets is_unowned of those that ask for the value of another entity. An entity that has changed gets none: the write
 * that changed it has decided, or its reconcile will (guard G49).
 */
void build_range_owners_decide(struct build_range *range);

/* Send the owners as decided; those created in vain go again. */
MUST_USE enum status build_range_owners_send(
    struct session *session, const struct build_range *range, struct error *err);

#endif
