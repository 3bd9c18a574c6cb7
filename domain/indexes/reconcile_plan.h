/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile_plan.h - decides which entries a source key has: from the source and its manifest to
 * the entries to write and delete, the new manifest, and the violations.
 *
 * Pure. The caller has locked the key's state row and then read the source (guard G8), so the plan
 * uses the newest state; a later reconcile of the key reads the source later.
 */
#ifndef DOMAIN_INDEXES_RECONCILE_PLAN_H
#define DOMAIN_INDEXES_RECONCILE_PLAN_H

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"
#include "domain/entities/row_state.h"
#include "domain/indexes/index_plan.h"

/* An index that cannot have its entry of the source. */
struct reconcile_violation {
    int64_t index_id;
    const char *why; /* in the arena: see index_plan_project */
};

/* What is known about a source key while its state row is locked. */
struct reconcile_case {
    /* of the source; NULL: it does not exist any more, so the source has no entries */
    const struct table *table;
    const struct entity_key *key;
    const struct row_state *source; /* version 0: there is no row */
    const struct manifest *stored;
    /*
     * one bit for each unique index, by its position in the table, whose value another entity owns
     */
    uint32_t unowned;
    /*
     * plan for a write: only indexes whose entries commit with it; entries of other indexes are
     * unchanged
     */
    bool is_write;
};

struct reconcile_plan {
    /* new or changed entries, with the source's version and timestamp */
    struct index_entry *upserts;
    size_t upsert_count;
    struct index_entry *deletes; /* only index, bucket and key are set */
    size_t delete_count;
    struct manifest manifest; /* if it is empty, the state row is deleted */
    struct reconcile_violation *violations;
    size_t violation_count;
};

/*
 * Entries of indexes that are dropped or being dropped are removed from the manifest, but not
 * deleted: the job that drops the index deletes all of them. For indexes without manifests only
 * violations are planned, since their entries are written with their sources.
 *
 * out borrows from stored; its memory is in the arena.
 */
void reconcile_plan(const struct reconcile_case *facts, struct arena *arena, struct reconcile_plan *out);

/* An entry that is written or deleted, and the state of the source that it is made from. */
struct entry_change {
    struct index_entry entry; /* if it is deleted, only index, bucket and key are set */
    const struct row_state *source;
    /* of the entry in its manifest: set if it is written, a hint if it is deleted; NULL: not wanted, not known */
    struct row_ctid *ctid;
};

/*
 * By index, partition key and row key: the order in which entries are locked. Takes struct
 * entry_change.
 */
int reconcile_plan_compare_entries(const void *a, const void *b);

#endif
