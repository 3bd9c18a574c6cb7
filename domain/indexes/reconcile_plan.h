/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile_plan.h - deciding what the entries of one source key are to be: (source, what its manifest says)
 * -> entries to write and to delete, the new manifest, violations.
 *
 * Pure. The caller holds the lock of the key's state row and has read the source after it (guard G8), so the
 * answer is the newest there can be; whoever comes later reads the source later.
 */
#ifndef DOMAIN_INDEXES_RECONCILE_PLAN_H
#define DOMAIN_INDEXES_RECONCILE_PLAN_H

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"
#include "domain/entities/row_state.h"
#include "domain/indexes/index_plan.h"

/* An index that cannot take its entry. */
struct reconcile_violation {
    int64_t index_id;
    const char *why; /* in the arena: see index_plan_project */
};

struct reconcile_plan {
    /* Set by the caller: a bit for each unique index, by its position in the table, whose value another entity owns. */
    uint32_t unowned;
    struct index_entry *upserts; /* new, or of other content; their version and ts are the source's */
    size_t upsert_count;
    struct index_entry *deletes; /* only index, bucket and key are set */
    size_t delete_count;
    struct manifest manifest; /* empty: the state row is deleted */
    struct reconcile_violation *violations;
    size_t violation_count;
};

/*
 * table: the source's, NULL when it is gone: nothing is wanted then. source: version 0 when there is no row.
 *
 * Entries of indexes that are being dropped, or are gone, leave the manifest but are not deleted here:
 * whoever drops the index removes them all. Of strong indexes there are only violations here: their entries are written
 * with their sources, and no manifest names them.
 *
 * out->unowned is an input; the function sets all other members. out borrows from stored; its memory is in the arena.
 */
void reconcile_plan(const struct table *table, const struct entity_key *key, const struct row_state *source,
    const struct manifest *stored, struct arena *arena, struct reconcile_plan *out);

/* An entry that is written or deleted, and the state of its source that it is made from. */
struct entry_change {
    struct index_entry entry; /* of one that is deleted only index, bucket and key are set */
    const struct row_state *source;
};

/* By index, partition key and row key: the order in which entries are locked. Takes struct entry_change. */
int reconcile_plan_compare_entries(const void *a, const void *b);

#endif
