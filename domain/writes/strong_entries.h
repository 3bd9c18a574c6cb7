/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strong_entries.h - plans the entries of strong indexes that are written with planned writes.
 *
 * A strong index in the partition of its source needs no manifest: a transaction that writes an
 * entity holds the lock of its row (guard G34), so the old entry is the one that the stored state
 * asks for, and the new entry the one that the planned state asks for. While the index is being
 * built, the old entry may be missing: then its delete has no effect, and the builder, under the
 * same lock, reads what was written.
 *
 * For a strong index in other partitions, which was or will be an eventual one, workers write
 * entries too. Writes and workers both use the manifest in the key's index state row, which the
 * write locks after the entity (guard G40).
 *
 * Pure.
 */
#ifndef DOMAIN_WRITES_STRONG_ENTRIES_H
#define DOMAIN_WRITES_STRONG_ENTRIES_H

#include "domain/indexes/reconcile_plan.h"
#include "domain/writes/write_plan.h"

/* Both arrays are in the order in which entries are locked. */
struct strong_entries {
    struct entry_change *upserts; /* their sources are the rows' `now` */
    size_t upsert_count;
    struct entry_change *deletes;
    size_t delete_count;
};

/* The index state row of a written key: what was read under its lock, and what is planned. */
struct strong_state {
    bool is_held; /* the row exists, and is locked */
    struct manifest stored;
    struct manifest planned;
    /*
     * The statements to send. A missing row is inserted even if it is deleted again at once. So if
     * a worker inserts the same row from an earlier state of the entity, one of the two
     * transactions waits for the other.
     */
    bool is_made, is_changed, is_removed;
};

/*
 * Whether the table has an index with manifests whose entries are written with its writes, so that
 * its rows need a strong_state.
 */
bool strong_entries_have_states(const struct table *table);

/*
 * Plan the entries of all rows, and their states, once every operation is planned. out is in the
 * arena, and borrows from the rows.
 */
void strong_entries_plan(
    const struct plan_row *rows, size_t count, struct arena *arena, struct strong_entries *out);

#endif
