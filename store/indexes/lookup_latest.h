/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_latest.h - makes a look-up exact although the index is behind: source keys with an open
 * intent or a dead letter are read at their source instead of through the index. The sources and
 * the entries are read in one snapshot.
 */
#ifndef STORE_INDEXES_LOOKUP_LATEST_H
#define STORE_INDEXES_LOOKUP_LATEST_H

#include "domain/indexes/lookup_plan.h"

struct session;

/* Source keys, sorted. */
struct open_sources {
    struct entity_key *keys;
    size_t count;
};

/*
 * Begin the snapshot, which the caller ends after the look-up, and read the open keys of the
 * index's source table. NOT_FRESH_ENOUGH: there are too many of them.
 */
MUST_USE enum status lookup_latest_begin(struct session *session, const struct index *index,
    struct arena *arena, struct open_sources *out, struct error *err);

/* Whether any key of the index's source table has open work, in the snapshot that is open. */
MUST_USE enum status lookup_latest_is_behind(
    struct session *session, const struct index *index, bool *out, struct error *err);

/*
 * Whether the entry belongs to one of these source keys. Such an entry may be outdated, so it is
 * ignored.
 */
bool lookup_latest_covers(const struct open_sources *open, const struct entity *entry);

/*
 * Merge the entries that the open sources should have into the page, which has entries of all other
 * sources, in the page's order, and cut the page at its limit. operation->out.lookup then has
 * entities under the keys of their entries.
 */
MUST_USE enum status lookup_latest_merge(struct session *session, const struct index *index,
    const struct lookup_range *range, const struct open_sources *open, struct operation *operation,
    struct error *err);

#endif
