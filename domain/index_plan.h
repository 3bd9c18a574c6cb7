/*
 * index_plan.h - which entries an entity has in an index: project(source). Pure, and it never looks at a
 * clock; the same function serves the write plan, the workers, the builder and the look-up.
 */
#ifndef DOMAIN_INDEX_PLAN_H
#define DOMAIN_INDEX_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "domain/catalogue.h"
#include "domain/entity_key.h"
#include "domain/property.h"

/* One entry: a row of `entities` under the index's table id. */
struct index_entry {
    int64_t index_id;
    int16_t bucket;
    struct entity_key key;
    struct property_list properties; /* with $SourcePartitionKey and $SourceRowKey */
    uint64_t digest;                 /* of the properties: equal content, equal digest */
};

enum projection_result {
    PROJECTED,           /* one entry */
    PROJECTED_NOTHING,   /* a property of the key is missing or null: the index is sparse */
    PROJECTED_VIOLATION, /* the entity cannot have its entry: *why says so (a literal) */
};

/*
 * The entry of a live entity. The row key of an entry ends with the source's two keys unless the
 * declaration holds them already, so entries of different entities never meet.
 */
enum projection_result index_project(const struct index *index, const struct entity_key *key,
    int64_t timestamp, struct property_list properties, struct arena *arena, struct index_entry *out,
    const char **why);

/* What entries stored for one source key look like: the manifest. */
struct manifest_item {
    int64_t index_id;
    struct entity_key key;
    uint64_t digest;
};
struct manifest {
    struct manifest_item *items;
    size_t count;
};

/* The manifest's stored bytes; decoding returns false for bytes we did not write. */
struct str manifest_encode(const struct manifest *manifest, struct arena *arena);
bool manifest_decode(struct str bytes, struct arena *arena, struct manifest *out);

/* The source key an entry stands for, from its $Source... properties. */
bool index_entry_source(struct property_list properties, struct entity_key *out);

/* The row-key part before the source keys and the range of entries for a look-up are in lookup_plan.h. */

#endif
