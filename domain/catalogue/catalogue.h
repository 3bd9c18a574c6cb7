/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - the tables and indexes at one version: an immutable value that many threads share.
 *
 * store/session/catalogue_load.h loads it, the write plan reads it, and each writing transaction
 * checks that its version is still the one in the database (guard G1). Catalogues of two versions
 * share the families that are the same in both.
 */
#ifndef DOMAIN_CATALOGUE_CATALOGUE_H
#define DOMAIN_CATALOGUE_CATALOGUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/shared_map.h"
#include "base/str.h"
#include "domain/catalogue/access_policy.h"
#include "domain/catalogue/table_periods.h"
#include "domain/filter/access_path.h"
#include "domain/properties/key_part.h"

/*
 * Stored in declarations, with the numbers of the API. domain/indexes/index_shape.h says what the
 * shapes differ in.
 */
enum index_shape { INDEX_COPY = 1, INDEX_LIST = 2, INDEX_SHAPE_END };
enum index_place { PLACE_SAME_PARTITION = 1, PLACE_OTHER_PARTITION = 2 };
enum index_state { INDEX_BUILDING = 1, INDEX_VALIDATING = 2, INDEX_READY = 3, INDEX_DROPPING = 4 };
/*
 * If an index is BECOMING_STRONG, writes already bring their entries along, but entries of earlier
 * writes may be missing. It is read as an eventual index until an operation has added them
 * (store/builds/index_update.h).
 */
enum index_consistency { INDEX_EVENTUAL, INDEX_STRONG, INDEX_BECOMING_STRONG };
enum violation_rule { VIOLATION_SKIP, VIOLATION_REJECT };
enum projection_kind { PROJECT_ALL, PROJECT_KEYS_ONLY, PROJECT_SOME };

struct filter;

/*
 * A copy rule: entities of the index's table get copies of properties of the entity that they name,
 * their source. domain/copies/copy_plan.h says what it asks for.
 */
struct copy_name { /* where a dependent has one of the two keys of its source */
    bool is_literal;
    struct str text; /* the key, or the dependent's property that has it; PartitionKey, RowKey count */
};
struct copy_pair {
    struct str to;   /* the dependent's property */
    struct str from; /* the source's property that it is a copy of */
};
struct copy_rule {
    int64_t source_table_id;
    struct str source_name; /* of the table */
    struct copy_name partition_key;
    struct copy_name row_key;
    struct copy_pair *pairs; /* sorted by `to`, each once */
    size_t pair_count;
    bool keep; /* the copies of a source that does not exist stay; otherwise they are removed */
    struct str version_property; /* gets the ETag of the source; empty: none does */
};

struct index {
    /* new for each build, never reused; also the id of the table of the entries */
    int64_t index_id;
    int64_t source_table_id;
    struct str account;
    struct str name; /* of the index, and of the table of its entries */
    struct str source_name;
    enum index_shape shape;
    enum index_place place;
    enum index_state state;
    enum index_consistency consistency;
    enum violation_rule on_violation;
    bool is_unique; /* a value has one owner: domain/writes/unique_owners.h */
    struct key_parts partition_key;
    struct key_parts row_key; /* as declared; empty: the source's two keys */
    enum projection_kind projection;
    struct str *names; /* PROJECT_SOME, sorted by bytes */
    size_t name_count;
    /*
     * Every write of a source writes its entry too, also one that changes no property. So an entry
     * has its source's version and time, and a look-up can return it as the entity. Set when the
     * index is made; indexes of earlier versions of Tavola do not have it.
     */
    bool keeps_versions;
    struct str filter_text; /* which entities have entries; empty: all of them */
    /* filter_text, compiled by index_codec_decode; NULL: all entities */
    const struct filter *filter;
    struct str definition; /* the declaration as bytes: index_codec.h */
    int64_t violations;
    struct str operation_id; /* of the job that builds it */
    /* the index whose name it gets when it is READY; 0: it has its own name */
    int64_t replaces;
    const struct copy_rule *copies; /* that the index finds the dependents of; NULL: it is an index only */
};

/* Whether every committed write has its entries, so that a look-up of the index is never behind. */
static inline bool index_is_strong(const struct index *index)
{
    return index->consistency == INDEX_STRONG;
}

/*
 * Whether a look-up with the consistency token of a write has nothing to wait for. The copies of a rule
 * follow their writes, although the entries of its index do not.
 */
static inline bool index_shows_writes_at_once(const struct index *index)
{
    return index_is_strong(index) && !index->copies;
}

/*
 * Whether a write writes the entries too, in its own transaction. Otherwise an intent makes workers
 * write them.
 */
static inline bool index_comes_with_write(const struct index *index)
{
    return index->consistency != INDEX_EVENTUAL;
}

/*
 * Whether the index state rows of the source keys name the entries. Entries in the partition of
 * their source need no manifest: the lock of the entity protects them too, and the entity's state
 * tells which they are.
 */
static inline bool index_has_manifest(const struct index *index)
{
    return index->place != PLACE_SAME_PARTITION;
}

struct table {
    int64_t table_id;
    struct str account;
    struct str name;
    struct str folded; /* lower case */
    int64_t created;   /* ticks */
    /* ticks: signatures that were issued earlier give no access to the table */
    int64_t signatures_from;
    /* for queries without a max_plan of their own; 0: no bound */
    enum access_path default_max_plan;
    /* the index whose entries the table holds; NULL: a table of callers */
    const struct index *entries_of;
    struct index **indexes; /* on this table: BUILDING, VALIDATING or READY */
    size_t index_count;
    struct access_policies policies;
    bool samples_queries; /* servers keep the shapes of its queries */
    struct table_periods periods;
    int64_t feed_id; /* of its change feed; 0: it has none */
    bool
        has_blob_properties; /* strings that begin with tavola-blob: hold blobs: domain/blobs/blob_reference.h */
    bool is_wide;            /* its entities may be wide: domain/properties/property_parts.h */
};

/*
 * Whether the table holds the entries of an index that has not got its name yet; callers cannot
 * find it.
 */
static inline bool table_is_hidden(const struct table *table)
{
    return table->entries_of && table->entries_of->replaces != 0;
}

/*
 * A caller's table with its indexes and the tables of their entries: the unit that is loaded and
 * replaced.
 */
struct table_family {
    atomic_int references;
    /* the id of the caller's table, even if that table is deleted and its indexes are not */
    int64_t family_id;
    struct table **tables;
    size_t table_count;
    struct arena arena; /* holds the whole family */
};

struct catalogue {
    int64_t version;
    int64_t floor;
    int64_t epoch;
    uint64_t origin; /* a hash of the database and its server's start; 0: unknown */
    /* the accounts have not changed since this version, or an earlier one */
    int64_t accounts_version;
    size_t sampled_tables;   /* whose queries servers sample */
    struct shared_map names; /* tables by (account, folded) */
    struct shared_map ids;   /* the same tables by id */
    struct shared_map families;
    struct shared_map followers; /* indexes with a copy rule, by (source table, index) */
    size_t copy_rules;           /* how many these are */
    atomic_int references;
};

/*
 * Make an empty catalogue, or one with the families of another. The caller may change it until it
 * hands out a reference.
 */
struct catalogue *catalogue_new(void);
struct catalogue *catalogue_copy(const struct catalogue *of);

/*
 * Take and release a reference. The last release frees the catalogue; NULL is allowed. Thread-safe.
 */
struct catalogue *catalogue_retain(const struct catalogue *catalogue);
void catalogue_release(struct catalogue *catalogue);

/*
 * Add a family, which the catalogue then owns, or remove one if it is there. The caller must have
 * the only reference.
 */
void catalogue_put(struct catalogue *catalogue, struct table_family *family);
void catalogue_remove(struct catalogue *catalogue, int64_t family_id);

struct table_family *table_family_new(int64_t family_id);
/* Release a family that no catalogue owns, too. */
void table_family_release(struct table_family *family);

/*
 * Find a table by its name in upper or lower case, or by its id; NULL if there is none. A hidden
 * table is found by its id only.
 */
const struct table *catalogue_find(const struct catalogue *catalogue, struct str account, struct str name);
const struct table *catalogue_find_id(const struct catalogue *catalogue, int64_t table_id);

/* The account's next table behind this folded name, hidden ones included; NULL if there is none. */
const struct table *catalogue_after(const struct catalogue *catalogue, struct str account, struct str folded);

/* Whether the entities that have entries in the index may be wide. */
bool catalogue_has_wide_source(const struct catalogue *catalogue, const struct index *index);

/*
 * The next index behind this id whose copy rule has the table as its source; NULL if there is none.
 * Asked for each write, so a catalogue without a rule answers inline.
 */
const struct index *catalogue_find_follower(
    const struct catalogue *catalogue, int64_t source_table_id, int64_t behind);
static inline const struct index *catalogue_next_follower(
    const struct catalogue *catalogue, int64_t source_table_id, int64_t behind)
{
    return catalogue->copy_rules > 0 ? catalogue_find_follower(catalogue, source_table_id, behind) : NULL;
}

/* The index that is being built to replace this one; NULL if there is none. */
const struct index *catalogue_find_replacement(const struct catalogue *catalogue, const struct index *index);

#endif
