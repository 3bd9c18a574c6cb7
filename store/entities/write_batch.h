/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_batch.h - many writes in one transaction.
 *
 *   flight 1   BEGIN; fence; catalogue; lock or create every key, sorted, and read the rows; or, if none is expected
 *              to be missing, lock and read them by one statement
 *   plan       in C, pure: domain/write_plan; with unique indexes twice, and their owners are locked in between
 *   flight 2   remove rows created in vain; update; entries of strong indexes; changes; intents; marker; COMMIT
 *
 * Unconditional upserts into tables without indexes take the blind path: one flight, without
 * reading; with request ids or a feed there is a second flight, for records and changes. Upserts of
 * the same key are one row in it, which counts as many versions.
 *
 * If a batch fails before its COMMIT, it is run again, and then operation by operation, so that one
 * failing operation does not fail the others. If the stored rows of a batch are too large to be in
 * memory at once, it is run in halves. If the answer to COMMIT is lost, the COMMIT is resolved
 * first (session_take_commit).
 */
#ifndef STORE_ENTITIES_WRITE_BATCH_H
#define STORE_ENTITIES_WRITE_BATCH_H

#include "domain/intents/intent.h"
#include "domain/operations/operation.h"

struct session;

/*
 * Give every OPERATION_WRITE of the list its outcome. context: a struct commit_observer. The
 * operations' arenas must not be the session's.
 */
void write_batch_run(struct session *session, struct operation *batch, void *context);

/* In steps, for one unconditional upsert of one entity into a table without indexes: lane.h. */
void *write_batch_begin(struct session *session, struct operation *batch);
bool write_batch_finish(
    struct session *session, void *begun, struct operation **batch, struct operation **decided);
bool write_batch_waits(const void *begun);

struct worker;
struct write_set;

/*
 * Run ordinary writes for a worker, whose observer gets their intents. Every operation gets its
 * outcome.
 */
void write_batch_for_worker(struct worker *store, struct session *session, struct operation *batch);

/*
 * Do the locking of flight 1 inside an open transaction: lock or create the rows and read them.
 * Used for the rows of a transaction's step, which are locked after the transaction's row.
 */
MUST_USE enum status write_batch_lock_more(struct session *session, struct write_set *set, struct error *err);

/*
 * For tables with unique indexes, after the rows are locked: call plan() to learn which values are
 * needed, lock the owners of these values (guard G36), and restore the rows for the final plan.
 * Does nothing if no table has a unique index.
 */
MUST_USE enum status write_batch_lock_owners(struct session *session, struct write_set *set,
    void (*plan)(void *context), void *context, struct error *err);

/*
 * Send the statements of flight 2, once set->ids are reserved: the intents, rows to remove and to
 * update, the entries of strong indexes, and the changes of feeds. `intents` has room for
 * set->intent_count of them.
 */
MUST_USE enum status write_batch_send_changes(struct session *session, const struct write_set *set,
    struct intent *intents, size_t *intent_count, struct error *err);

/* Of these statements, only the one that removes the rows created in vain. */
MUST_USE enum status write_batch_send_removals(
    struct session *session, const struct write_set *set, struct error *err);

#endif
