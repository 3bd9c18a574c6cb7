/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile_plan.h - decides which entries a source key has: from the source and its manifest to the entries to write
 * and delete, the new manifest, and the violations.
 *
 * Pure. The caller has locked the key's state row and then read the source (guard G8), so the plan uses the newest
 * state; a later reconcile of the key reads the source later.
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

/* What is known of a source key, under the lock of its state row. */
struct reconcile_case {
    const struct table
        *table; /* of the source; NULL: it does not exist any more, and then no entries are wanted */
    const struct entity_key *key;
    const struct row_state *source; /* version 0: there is no row */
    const struct manifest *stored;
    uint32_t
        unowned; /* a bit for each unique index, by its position in the table, whose value another entity owns */
    bool
        is_write; /* plan for a write: only indexes whose entries commit with it; entries of other indexes stay */
};

struct reconcile_plan {
    struct index_entry *upserts; /* new or changed; with the source's version and timestamp */
    size_t upsert_count;
    struct index_entry *deletes; /* only index, bucket and key are set */
    size_t delete_count;
    struct manifest manifest; /* empty: the state row is deleted */
    struct reconcile_violation *violations;
    size_t violation_count;
};

/*
 * Entries of indexes that are dropped or being dropped leave the manifest but are not deleted here: the job that
 * drops the index removes them all. For indexes without manifests the plan has violations only: their entries are
 * written with their sources.
 *
 * out borrows from stored; its memory is in the arena.
 */
void reconcile_plan(const struct reconcile_case *facts, struct arena *arena, struct reconcile_plan *out);

/* An entry that is written or deleted, and the state of its source that it is made from. */
struct entry_change {
    struct index_entry entry; /* of one that is deleted only index, bucket and key are set */
    const struct row_state *source;
};

/* By index, partition key and row key: the order in which entries are locked. Takes struct entry_change. */
int reconcile_plan_compare_entries(const void *a, const void *b);

#endif
