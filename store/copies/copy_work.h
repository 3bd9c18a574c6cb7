/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_work.h - gives dependents the copies that a copy rule asks for: a batch of them in one
 * transaction.
 */
#ifndef STORE_COPIES_COPY_WORK_H
#define STORE_COPIES_COPY_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/intents/intent.h"

struct index;
struct session;
struct worker;

enum { COPY_BATCH_KEYS = 100 };

struct copy_counts {
    int64_t keys;    /* dependents that were looked at */
    int64_t written; /* whose copies were changed */
    int64_t refused; /* that cannot have their copies, which dead letters say */
    int64_t intents_removed;
};

static inline void copy_counts_add(struct copy_counts *sum, const struct copy_counts *more)
{
    sum->keys += more->keys;
    sum->written += more->written;
    sum->refused += more->refused;
    sum->intents_removed += more->intents_removed;
}

/* Dependents of one rule, inside an open transaction. Memory is in the session's arena. */
struct copy_batch {
    int64_t index_id;
    const struct entity_key *keys; /* of the dependents; they may repeat */
    size_t count;                  /* at most COPY_BATCH_KEYS */
    bool force;                    /* look also at dependents without an open intent */
    /* Results. */
    bool is_gone; /* the index does not exist any more; nothing was done */
    /* nothing was done: the entities are too large for one transaction. Never so of a single key */
    bool is_too_large;
    struct copy_counts counts;
    struct intent *intents; /* that the writes have made; copy_work_tell once they are committed */
    size_t intent_count;
};

/* The index of a rule, by the session's catalogue; NULL: it was dropped. */
const struct index *copy_work_rule(const struct session *session, int64_t index_id);

/*
 * Lock the dependents, delete their open intents, read the sources that they name in a later
 * statement (guard G69), and send what makes their copies right: through the plan of ordinary
 * writes, so that indexes, change feeds and rules that follow get what other writes give them.
 *
 * The caller has begun a transaction that writes (session_take_begin gave now_us), holds no locks
 * but those of transactions' and builds' rows, and goes on with session_send_commit. If is_gone or
 * is_too_large is set, nothing was written, and the locks stay until the end of the transaction.
 */
MUST_USE enum status copy_work_run(
    struct session *session, struct copy_batch *batch, int64_t now_us, struct error *err);

/*
 * Say whether copy_work_run would change this dependent's copies, or refuse them, whether it has an intent or not. It
 * locks what copy_work_run locks, in a transaction that is rolled back. No counts: the index is gone.
 */
MUST_USE enum status copy_work_preview(struct session *session, int64_t index_id,
    const struct entity_key *key, struct copy_counts *counts, struct error *err);

/* After the commit: tell the worker's observer of the intents. */
void copy_work_tell(const struct worker *store, const struct copy_batch *batch);

/*
 * Copy the dependents that intents of kind INTENT_COPY name, those with an open intent only; others
 * are left alone. The intents may be of several rules and may repeat; each rule has a transaction
 * of its own, or several if the entities are large. After a failure only earlier transactions have
 * taken effect. Intents of rules that do not exist any more are deleted.
 */
MUST_USE enum status copy_work_keys(struct worker *store, const struct intent *intents, size_t count,
    struct copy_counts *counts, struct error *err);

/*
 * The same for dependents of one rule, whether they have intents or not: for builds and repairs.
 * Any number; nothing happens if the index is gone.
 */
MUST_USE enum status copy_work_force(struct worker *store, int64_t index_id, const struct entity_key *keys,
    size_t count, struct copy_counts *counts, struct error *err);

#endif
