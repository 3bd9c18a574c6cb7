/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_plan.h - the entry that an entity has in an index. Pure and without a clock: the same
 * function is used by the write plan, the workers, the builder and the look-up.
 */
#ifndef DOMAIN_INDEXES_INDEX_PLAN_H
#define DOMAIN_INDEXES_INDEX_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"
#include "domain/entities/entity.h"
#include "domain/intents/row_ctid.h"
#include "domain/keys/entity_key.h"
#include "domain/limits.h"
#include "domain/properties/property.h"

struct row_state;

/* One entry: a row of `entities` under the index's table id. */
struct index_entry {
    int64_t index_id;
    int16_t bucket;
    struct entity_key key;
    struct property_list properties; /* with $SourcePartitionKey and $SourceRowKey */
    /* of the properties and the expiry: equal content has an equal digest */
    uint64_t digest;
};

/*
 * The digest of an entry. expires: when its source expires, 0: never. Entries that expire at
 * different times have different digests; if the index keeps versions, those of different versions
 * too.
 */
uint64_t index_plan_digest(
    const struct index *index, struct str properties, int64_t version, int64_t expires);

/* Set the digest of the entry of a source in this state. */
void index_plan_set_digest(
    const struct index *index, const struct row_state *source, struct index_entry *entry);

/*
 * Whether a new index of this declaration can keep versions: its entries have all properties, so
 * that they can stand for their entities.
 */
bool index_plan_may_keep_versions(const struct index *index);

enum projection_result {
    PROJECTED, /* one entry */
    /* the index's filter does not match, or a property of the key is missing or null */
    PROJECTED_NOTHING,
    PROJECTED_VIOLATION, /* the entity cannot have its entry; *why is the reason */
};

/*
 * The parts of an entry's row key: the declared ones, and behind them the source's PartitionKey and
 * RowKey, unless the declaration has them. So entries of different entities have different keys. In
 * a list both are appended in any case: they are the member.
 */
struct index_row_parts {
    const struct key_part *parts[LIMIT_KEY_PARTS + 2];
    size_t count;
    size_t declared; /* number of declared parts, which come first; 0: no row key is declared */
};
struct index_row_parts index_row_parts(const struct index *index);

/*
 * The table from whose id, with the entry's partition key, the entry's bucket is computed. Entries
 * in the same partition are in the bucket of their source.
 */
int64_t index_plan_home_table(const struct index *index);

/* The bucket of a partition of a table, which callers write or which holds an index's entries. */
int16_t index_plan_bucket(const struct table *table, struct str partition);

/*
 * Make the entry of a live entity, from its key, timestamp and properties. The result says whether
 * out (in the arena, borrowing nothing) or why is set. *why, in the arena, names the properties
 * that cause the violation, their types and what is required, but no values; why may be NULL.
 *
 * An entry in the same partition has the source's partition key unchanged; other keys consist of
 * encoded parts. The entry's properties are the source's two keys and the projected records, byte
 * by byte; a list entry has only the two keys. The digest is that of index_plan_set_digest for a
 * source that never expires, without a version.
 */
enum projection_result index_plan_project(const struct index *index, const struct entity *entity,
    struct arena *arena, struct index_entry *out, const char **why);

/*
 * As index_plan_project, for a row in this state: PROJECTED_NOTHING if it is not live. The entry
 * expires with the row.
 */
enum projection_result index_plan_project_state(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena, struct index_entry *out);

/* As index_plan_project, for the entry's key alone. */
enum projection_result index_plan_key(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena, struct entity_key *out);

/* Whether an entity in this state cannot have its entry; why is set if so. */
bool index_plan_violates(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena, const char **why);

/* The change of the entry in one index when a write takes the source from `before` to `after`. */
struct index_change {
    enum projection_result was, is;
    /* the entry's keys before and after, as far as it was and is PROJECTED */
    struct entity_key old, new;
    bool moves; /* the key changes */
    /* its key, its records, its expiry or its kept version change, or it is added or removed */
    bool changes;
};
struct index_change index_plan_change(const struct index *index, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after, struct arena *arena);

/*
 * Whether the write needs an intent: its entry changes, and the write does not write the entry
 * itself. If the entity cannot have its entry before or after the write, an intent is needed in any
 * case, so that the violation is recorded or resolved.
 */
bool index_plan_affects(const struct index *index, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after, struct arena *arena);

/* The manifest: the entries that are stored for one source key. */
struct manifest_item {
    int64_t index_id;
    struct entity_key key;
    uint64_t digest;
    struct row_ctid ctid; /* where the entry lies: a hint, which is stored beside the manifest */
};
struct manifest {
    struct manifest_item *items;
    size_t count;
};

/*
 * The stored form of a manifest, empty for an empty one. Decoding returns false for bytes that are
 * not a manifest; the result borrows the bytes.
 */
struct str manifest_encode(const struct manifest *manifest, struct arena *arena);
bool manifest_decode(struct str bytes, struct arena *arena, struct manifest *out);

/* NULL: the manifest does not name the entry. */
struct manifest_item *manifest_find(
    const struct manifest *manifest, int64_t index_id, const struct entity_key *key);

/*
 * The ctids of the manifest's items, one behind the other; empty if none is known. Bytes of another length are
 * not this manifest's, and then none is known: a program that knows nothing of ctids has changed the manifest alone.
 */
struct str manifest_ctids_encode(const struct manifest *manifest, struct arena *arena);
void manifest_ctids_decode(struct str bytes, struct manifest *manifest);

/*
 * Read the key of an entry's source from its $Source... properties; false: the properties are not
 * those of an entry.
 */
bool index_entry_source(struct property_list properties, struct entity_key *out);

/* The same, and move *properties behind these properties, which come first. */
bool index_entry_take_source(struct property_list *properties, struct entity_key *out);

/* The range of entries of a look-up is in lookup_plan.h, reading lists in list_page.h. */

#endif
