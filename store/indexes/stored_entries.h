/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_entries.h - reads and locks the entries that are really stored for source keys, which
 * repairs use instead of the manifests.
 */
#ifndef STORE_INDEXES_STORED_ENTRIES_H
#define STORE_INDEXES_STORED_ENTRIES_H

#include "store/indexes/source_keys.h"

/* The key of an entry that may exist for the source key although no manifest names it. */
struct entry_suspect {
    int64_t index_id;
    struct entity_key source;
    struct entity_key entry;
    bool has_entry;
};

/*
 * Replace `stored` of each key by the entries that exist and name it. The function looks at the
 * keys of the entries that the source asks for, that its manifest names, and of the suspects. It
 * locks these entries in the order of locks; the state rows must be locked and the sources read
 * before.
 */
MUST_USE enum status stored_entries_read(struct session *session, struct source_keys *keys,
    const struct entry_suspect *suspects, size_t count, struct error *err);

/*
 * The same for entries that name no source. *out has `count` members: whether each entry exists and
 * names no source.
 */
MUST_USE enum status stored_entries_hold_nameless(struct session *session, const struct index *index,
    const struct entity_key *entries, size_t count, bool *out, struct error *err);

#endif
