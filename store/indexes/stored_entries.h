/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_entries.h - what is really stored for source keys, in the place of what their manifests say: for repairs.
 */
#ifndef STORE_INDEXES_STORED_ENTRIES_H
#define STORE_INDEXES_STORED_ENTRIES_H

#include "store/indexes/source_keys.h"

/* An entry of one source key, which may be there although no manifest names it. */
struct entry_suspect {
    int64_t index_id;
    struct entity_key source;
    struct entity_key entry;
    bool has_entry;
};

/*
 * Replace `stored` of each key by the entries that are there and name it: at the keys that its source asks for, that
 * its manifest names, and among the suspects. The entries are locked, in the order of locks; the state rows are locked
 * already, and the sources were read.
 */
MUST_USE enum status stored_entries_read(struct session *session, struct source_keys *keys,
    const struct entry_suspect *suspects, size_t count, struct error *err);

/* The same for entries that name no source: *out, as many as count, says which of them are there and name none. */
MUST_USE enum status stored_entries_hold_nameless(struct session *session, const struct index *index,
    const struct entity_key *entries, size_t count, bool *out, struct error *err);

#endif
