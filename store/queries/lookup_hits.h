/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_hits.h - what all ways to run a look-up share: finding the index, and getting from the
 * entries that were found to their source entities.
 */
#ifndef STORE_QUERIES_LOOKUP_HITS_H
#define STORE_QUERIES_LOOKUP_HITS_H

#include "domain/operations/operation.h"

struct session;

/*
 * Find the index of an OPERATION_LOOKUP. INDEX_NOT_FOUND, INDEX_NOT_READY; TOKEN_EXPIRED: a
 * consistency token is of another epoch, or of a table other than the index's source.
 */
MUST_USE enum status lookup_hits_resolve(const struct session *session, const struct operation *operation,
    const struct index **out, struct error *err);

/*
 * Replace each entry in the outcome by what it shows of its source: the source's keys, its ETag,
 * and the projected properties. The entries' own keys go to out.lookup.entries. false: an entry
 * does not name its source.
 */
bool lookup_hits_name(const struct index *index, struct operation *operation);

/*
 * Make the OPERATION_GET that reads the sources, in the operation's arena. Of wide ones only the properties that are
 * wanted, or that tell whether it has the entry, are read. After LIMIT_REPLY_BYTES no further source need be; of others
 * than wide ones, if parts of them are wanted, after LIMIT_PAGE_EXAMINED_BYTES.
 */
void lookup_hits_ask(
    const struct index *index, bool is_wide, const struct operation *operation, struct operation *sources);

/* Whether the source, in its present state, has this entry. The arena is left as it was. */
bool lookup_hits_holds(const struct index *index, const struct entity *source, const struct entity_key *entry,
    struct arena *scratch);

/*
 * Replace the entries by their sources, without those entries that their source does not have any
 * more. The page ends with the last source that was read.
 */
void lookup_hits_replace(
    const struct index *index, const struct operation *sources, struct operation *operation);

#endif
