/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_latest.h - reading around what an index is behind with: source keys with an open intent, or given up, are
 * looked up at their source. All of it, and the entries, in one snapshot.
 */
#ifndef STORE_INDEXES_LOOKUP_LATEST_H
#define STORE_INDEXES_LOOKUP_LATEST_H

#include "domain/indexes/lookup_plan.h"
#include "store/session/session.h"

/* Source keys, sorted. */
struct open_sources {
    struct entity_key *keys;
    size_t count;
};

/*
 * Begin the snapshot, which the caller ends after the look-up, and read the keys of the index's source.
 * NOT_FRESH_ENOUGH: there are too many.
 */
MUST_USE enum status lookup_latest_begin(struct session *session, const struct index *index,
    struct arena *arena, struct open_sources *out, struct error *err);

/* Whether an entry is of one of these keys: it says nothing then. */
bool lookup_latest_covers(const struct open_sources *open, const struct entity *entry);

/*
 * Merge the entries that the open sources should have into a page of entries of all other sources, in the page's order;
 * the page is cut at its limit. operation->out.lookup has entities under their entries' keys.
 */
MUST_USE enum status lookup_latest_merge(struct session *session, const struct index *index,
    const struct lookup_range *range, const struct open_sources *open, struct operation *operation,
    struct error *err);

#endif
