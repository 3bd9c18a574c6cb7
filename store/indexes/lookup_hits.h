/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_hits.h - what all ways to run a look-up have in common: the index it names, and the way from the entries that
 * it has found to their source entities.
 */
#ifndef STORE_INDEXES_LOOKUP_HITS_H
#define STORE_INDEXES_LOOKUP_HITS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * The index of an OPERATION_LOOKUP. INDEX_NOT_FOUND, INDEX_NOT_READY; TOKEN_EXPIRED: a token of another epoch, or of a
 * table that this is no index of.
 */
MUST_USE enum status lookup_hits_resolve(const struct session *session, const struct operation *operation,
    const struct index **out, struct error *err);

/*
 * Make of the entries in the outcome what they show of their sources: the source's keys, its ETag, and the projected
 * properties. The entries' own keys go to out.lookup.entries. false: an entry does not name its source.
 */
bool lookup_hits_name(const struct index *index, struct operation *operation);

/* The OPERATION_GET of the sources, in the operation's arena. */
void lookup_hits_ask(const struct index *index, const struct operation *operation, struct operation *sources);

/* Whether the source, as it is, has this entry. The arena is left as it is. */
bool lookup_hits_holds(const struct index *index, const struct entity *source, const struct entity_key *entry,
    struct arena *scratch);

/* Put the sources in the place of the entries; entries that their source does not have any more are left out. */
void lookup_hits_replace(
    const struct index *index, const struct operation *sources, struct operation *operation);

#endif
