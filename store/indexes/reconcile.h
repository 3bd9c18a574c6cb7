/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.h - makes every live index agree with its source keys: the core of the protocol.
 */
#ifndef STORE_INDEXES_RECONCILE_H
#define STORE_INDEXES_RECONCILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/intent.h"
#include "domain/operations/operation.h"

struct worker;

struct reconcile_counts {
    int64_t keys; /* that had an open intent */
    int64_t entries_written, entries_deleted;
    int64_t intents_removed;
    int64_t violations;
};

/*
 * Make every live index agree with these source keys, in one transaction: enter the fence, check
 * the catalogue, lock the keys' state rows, remove their intents, read the sources, write entries
 * and manifests, commit.
 *
 * intents  of kind INTENT_RECONCILE only; keys may repeat
 * force    true (for builds): reconcile also keys without an open intent; false: leave these alone
 * counts   is added to
 *
 * If the sources have more than 16 MB together, the batch is halved, and each half has a
 * transaction of its own. After a failure only earlier transactions of the batch have taken effect.
 * Unless forced, a crash of the database within the next moment may undo the call: then the intents
 * are open again.
 */
MUST_USE enum status reconcile_keys(struct worker *store, const struct intent *intents, size_t count,
    bool force, struct reconcile_counts *counts, struct error *err);

/*
 * The same, forced: all keys at once or, if that fails, one by one, so that the error names the
 * entity that cannot be indexed. A manifest that cannot be decoded is repaired.
 */
MUST_USE enum status reconcile_each(
    struct worker *store, const struct intent *keys, size_t count, struct error *err);

struct entry_suspect; /* store/indexes/stored_entries.h */

/*
 * The same, forced, for keys whose manifests may be wrong or undecodable. Instead of the manifests
 * it uses the stored entries, at the keys of the entries that the sources ask for, that the
 * manifests name, and that the suspects name. There is one suspect for each intent, of its key.
 * Entries that are right are not written.
 */
MUST_USE enum status reconcile_repair(struct worker *store, const struct intent *intents,
    const struct entry_suspect *suspects, size_t count, struct reconcile_counts *counts, struct error *err);

struct session;

/* Tell what reconciling this key would change. */
MUST_USE enum status reconcile_preview(struct session *session, const struct intent *intent,
    struct dead_letter_difference *out, struct error *err);

#endif
