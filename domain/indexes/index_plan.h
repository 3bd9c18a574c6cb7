/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_plan.h - the entry that an entity has in an index: project(source). Pure and without a clock: the same
 * function serves the write plan, the workers, the builder and the look-up.
 */
#ifndef DOMAIN_INDEXES_INDEX_PLAN_H
#define DOMAIN_INDEXES_INDEX_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"
#include "domain/entities/entity.h"
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
    uint64_t digest;                 /* of the properties and the expiry: equal content has an equal digest */
};

/*
 * The digest of an entry. expires: that of its source, 0: never; entries that expire at different times have
 * different digests.
 */
uint64_t index_plan_digest(struct str properties, int64_t expires);
void index_entry_expires(struct index_entry *entry, int64_t expires);

enum projection_result {
    PROJECTED,           /* one entry */
    PROJECTED_NOTHING,   /* the index's filter does not match, or a property of the key is missing or null */
    PROJECTED_VIOLATION, /* the entity cannot have its entry: *why has the reason (a literal) */
};

/*
 * The parts an entry's row key is made of: those declared, and behind them the source's PartitionKey and
 * RowKey as far as the declaration (of both keys) does not hold them. So entries of different entities never
 * meet. A list has both behind the declared parts in any case: they are the member.
 */
struct index_row_parts {
    const struct key_part *parts[LIMIT_KEY_PARTS + 2];
    size_t count;
    size_t declared; /* the number of declared parts, which come first; 0: no row key is declared */
};
struct index_row_parts index_row_parts(const struct index *index);

/*
 * The table whose id an entry's bucket is computed from, with the entry's partition key: entries in the same
 * partition live where their source does.
 */
int64_t index_plan_home_table(const struct index *index);

/* The bucket of a partition of a table: of one that callers write, or of the one that holds an index's entries. */
int16_t index_plan_bucket(const struct table *table, struct str partition);

/*
 * The entry of a live entity, of which key, timestamp and properties are read; out (in the arena, and borrowing
 * nothing) and why are set as the result says. *why, in the arena, names the properties that are to blame, their types
 * and what is wanted, but no values; why may be NULL.
 *
 * An entry in the same partition has the source's partition key as it is; other keys are made of encoded
 * parts. Its properties are the source's two keys and the projected records, byte by byte; a list entry has
 * the two keys only.
 */
enum projection_result index_plan_project(const struct index *index, const struct entity *entity,
    struct arena *arena, struct index_entry *out, const char **why);

/* The same of a row as it is locked: nothing unless it is live, and the entry expires with it. */
enum projection_result index_plan_project_state(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena, struct index_entry *out);

/* The key of that entry alone. */
enum projection_result index_plan_key(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena, struct entity_key *out);

/* A property of an entity in this state, PartitionKey, RowKey and Timestamp included; false: missing, or null. */
bool index_plan_find_value(
    const struct entity_key *key, const struct row_state *state, struct str name, struct value *out);

/* Whether an entity in this state cannot have its entry; why is set if so. */
bool index_plan_violates(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena, const char **why);

/* The change of the entry in one index when a write takes the source from `before` to `after`. */
struct index_change {
    enum projection_result was, is;
    struct entity_key old, new; /* of the entry before, if it was PROJECTED, and after, if it is */
    bool moves;                 /* from one key to another */
    bool changes;               /* its key, its records or the time of its expiry; or it comes, or goes */
};
struct index_change index_plan_change(const struct index *index, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after, struct arena *arena);

/*
 * Whether an intent must follow that write: its entry changes, and the write does not bring it along. A state in which
 * the entity cannot have its entry always asks for an intent, so that the violation is noted, or resolved.
 */
bool index_plan_affects(const struct index *index, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after, struct arena *arena);

/* The manifest: the entries that are stored for one source key. */
struct manifest_item {
    int64_t index_id;
    struct entity_key key;
    uint64_t digest;
};
struct manifest {
    struct manifest_item *items;
    size_t count;
};

/*
 * The stored form of a manifest, empty for an empty one. Decoding returns false for bytes that are not a manifest;
 * the result borrows the bytes.
 */
struct str manifest_encode(const struct manifest *manifest, struct arena *arena);
bool manifest_decode(struct str bytes, struct arena *arena, struct manifest *out);

/*
 * Read the key of an entry's source from its $Source... properties; false: the properties are not those of an entry.
 */
bool index_entry_source(struct property_list properties, struct entity_key *out);

/* The range of entries of a look-up is in lookup_plan.h, reading lists in list_page.h. */

#endif
