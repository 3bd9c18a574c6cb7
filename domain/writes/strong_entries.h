/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strong_entries.h - the entries of strong indexes that planned writes bring along.
 *
 * A strong index in the partition of its source has no manifest and needs none: a transaction that writes an entity
 * holds the lock of its row (guard G34), so its entry before is what the stored state asks for, and its entry after
 * what the planned one asks for. While the index is being built the entry before may be missing: a delete of what is
 * not there does nothing, and the builder, under the same lock, reads what was written.
 *
 * A strong index in other partitions was, or will be, an eventual one: workers write its entries too. What both go by
 * is the manifest in the key's index state row, which the write locks behind the entity (guard G40).
 *
 * Pure.
 */
#ifndef DOMAIN_WRITES_STRONG_ENTRIES_H
#define DOMAIN_WRITES_STRONG_ENTRIES_H

#include "domain/indexes/reconcile_plan.h"
#include "domain/writes/write_plan.h"

/* Both in the order in which entries are locked. */
struct strong_entries {
    struct entry_change *upserts; /* their sources are the rows' `now` */
    size_t upsert_count;
    struct entry_change *deletes;
    size_t delete_count;
};

/* The index state row of a key that is written: what is read under its lock, and what the plan makes of it. */
struct strong_state {
    bool is_held; /* there is one, and it is locked */
    struct manifest stored;
    struct manifest planned;
    /*
     * What is to be sent. A row that is not there is made also if it goes again at once: a worker that inserts the
     * same row from an earlier state of the entity then waits for this transaction, or this one waits for it.
     */
    bool is_made, is_changed, is_removed;
};

/* Whether some index with manifests comes with the writes of a table, so that its rows need a strong_state. */
bool strong_entries_have_states(const struct table *table);

/*
 * What becomes of the entries of all rows, and of their states, once every operation is planned. out is in the arena,
 * and borrows the rows.
 */
void strong_entries_plan(
    const struct plan_row *rows, size_t count, struct arena *arena, struct strong_entries *out);

#endif
