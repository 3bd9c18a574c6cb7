/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.h - making every live index agree with its source keys: the heart of the protocol.
 */
#ifndef STORE_INDEXES_RECONCILE_H
#define STORE_INDEXES_RECONCILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/intent.h"
#include "domain/operations/operation.h"
#include "store/session/worker.h"

struct reconcile_counts {
    int64_t keys; /* with something open */
    int64_t entries_written, entries_deleted;
    int64_t intents_removed;
    int64_t violations;
};

/*
 * Make every live index agree with these source keys, in one transaction: fence, catalogue, lock the
 * keys' state rows, remove their intents, read the sources, write entries and manifests, commit. `force`: also
 * keys without an open intent (the builder's); otherwise those are left alone. Intents of kind INTENT_RECONCILE
 * only. Keys may repeat. Where the sources have more than 16 MB, each half has a transaction of its own, and so on.
 *
 * A failure: nothing happened, but for what the transactions before it did. counts is added to.
 *
 * Unless forced, a crash of the database within the next moment may take it all back: then the intents are open again.
 */
MUST_USE enum status reconcile_keys(struct worker *store, const struct intent *intents, size_t count,
    bool force, struct reconcile_counts *counts, struct error *err);

/*
 * The same, forced: all at once or, if that fails, one by one, so that the entity which cannot be indexed is named. A
 * manifest that cannot be read is repaired.
 */
MUST_USE enum status reconcile_each(
    struct worker *store, const struct intent *keys, size_t count, struct error *err);

struct entry_suspect; /* store/indexes/stored_entries.h */

/*
 * The same, forced, for keys whose manifests may be wrong or unreadable: the stored entries count instead, at the
 * keys of the sources' entries, of the manifests' and of the suspects. One suspect for each intent, of its key. What is
 * right is left as it is.
 */
MUST_USE enum status reconcile_repair(struct worker *store, const struct intent *intents,
    const struct entry_suspect *suspects, size_t count, struct reconcile_counts *counts, struct error *err);

struct session;

/* What reconciling this key would change. */
MUST_USE enum status reconcile_preview(struct session *session, const struct intent *intent,
    struct dead_letter_difference *out, struct error *err);

#endif
