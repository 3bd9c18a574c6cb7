/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_batch.h - many writes in one transaction.
 *
 *   flight 1   BEGIN; fence; catalogue; lock or create every key, sorted; read the rows
 *   plan       in C, pure: domain/write_plan; with unique indexes twice, and their owners are locked in between
 *   flight 2   remove what was created in vain; update; entries of strong indexes; changes; intents; marker; COMMIT
 *
 * Unconditional upserts into tables without indexes take the blind path: one flight, no reading; with request ids or a
 * feed a second one for records and changes.
 *
 * A batch that failed before its COMMIT is run again, then operation by operation, so that one culprit
 * does not fail its neighbours; one that has more to read than may be held at once is run in halves. A lost
 * answer to COMMIT is resolved first (session_take_commit).
 */
#ifndef STORE_ENTITIES_WRITE_BATCH_H
#define STORE_ENTITIES_WRITE_BATCH_H

#include "domain/intents/intent.h"
#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * Give every OPERATION_WRITE of the list its outcome. context: a struct commit_observer. Operations have arenas that
 * are not the session's.
 */
void write_batch_run(struct session *session, struct operation *batch, void *context);

struct worker;
struct write_set;

/* Run ordinary writes; the worker's observer gets their intents. Every operation gets its outcome. */
void write_batch_for_worker(struct worker *store, struct session *session, struct operation *batch);

/*
 * Flight 1 inside a transaction that has begun: lock or create the rows, read them. For a step's rows, locked after
 * its transaction's row.
 */
MUST_USE enum status write_batch_lock_more(struct session *session, struct write_set *set, struct error *err);

/*
 * Of tables with unique indexes, once the rows are locked: call plan() to learn which values are wanted, lock their
 * owners (guard G36), and put the rows back as they were, for the plan that counts. Does nothing without such a table.
 */
MUST_USE enum status write_batch_lock_owners(struct session *session, struct write_set *set,
    void (*plan)(void *context), void *context, struct error *err);

/*
 * The pieces of flight 2, once set->ids are reserved: rows to remove and to update, the entries of strong indexes, the
 * feeds' changes, and the intents that follow. intents has room for one per row.
 */
MUST_USE enum status write_batch_send_changes(struct session *session, const struct write_set *set,
    struct intent *intents, size_t *intent_count, struct error *err);

/* Of these, the rows that were created in vain. */
MUST_USE enum status write_batch_send_removals(
    struct session *session, const struct write_set *set, struct error *err);

/* One statement. */
MUST_USE enum status write_batch_send_intents(
    struct session *session, const struct intent *intents, size_t count, struct error *err);

#endif
