/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locked_writes.h - writes beside rows that other transactions have locked for long.
 *
 * A batch of writes is one transaction, so one locked row would hold up all writes of the batch, and a few such
 * batches every thread that writes. So the sessions of these threads wait for a lock for a moment only. Then
 *
 *   locked_writes_run    finds the writes whose rows are locked, without waiting, sets them aside
 *                        (DETOUR_LOCKED: they have no outcome), and runs the others
 *   locked_writes_retry  in a lane of its own, tries those that were set aside, again and again
 *
 * A write that waits there holds no connection, no lock and no thread, however many there are. For a moment after a
 * long lock was met, every batch looks for locks before it writes, and writes to keys of which a write waits already
 * (locked_keys.h) are set aside at once.
 *
 * Other locks than those of existing rows (of a row that another transaction inserts, of an owner of a unique value,
 * of an index state row) cannot be found without waiting. Then the whole batch is set aside; locked_writes_retry runs
 * its writes one by one, and of each account at most one in a round that has to wait.
 *
 * The session must have locked_keys. context: a struct commit_observer.
 */
#ifndef STORE_ENTITIES_LOCKED_WRITES_H
#define STORE_ENTITIES_LOCKED_WRITES_H

#include "domain/operations/operation.h"

struct session;

/* Whether the write was set aside. */
bool locked_writes_is_aside(const struct operation *operation);

/* Before a write that was set aside waits for locked_writes_retry. It is not aside any more. */
void locked_writes_prepare_retry(struct operation *operation);

void locked_writes_run(struct session *session, struct operation *batch, void *context);

/*
 * As locked_writes_run, for writes that were set aside before. One that has waited for LOCKED_WRITES_MAX_WAIT_US, or
 * nearly until its deadline, fails with STORE_UNAVAILABLE.
 */
void locked_writes_retry(struct session *session, struct operation *batch, void *context);

enum {
    /* Longer than the 5 seconds after which PostgreSQL ends a session that holds locks and does nothing. */
    LOCKED_WRITES_MAX_WAIT_US = 6000000,
    /* Between two rounds of locked_writes_retry. */
    LOCKED_WRITES_REST_US = 20000,
    /* Of one round. */
    LOCKED_WRITES_PER_ROUND = 64,
};

#endif
