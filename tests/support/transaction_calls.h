/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_calls.h - transactions as tests submit them and carry them out. Steps are in partition "p";
 * a move's destination is in partition "q".
 */
#ifndef TESTS_SUPPORT_TRANSACTION_CALLS_H
#define TESTS_SUPPORT_TRANSACTION_CALLS_H

#include "store/entities/write_batch.h"
#include "tests/support/worker_world.h"

struct step step_put(struct arena *arena, const char *table, const char *row, const char *value);
struct step step_delete(const char *table, const char *row);
struct step step_move(const char *table, const char *row, const char *to_table, const char *to_row);

/* observer NULL: commits are not observed. */
struct operation *transaction_submitted(struct session *session, struct arena *arena,
    const struct commit_observer *observer, const char *id, struct step *steps, size_t count);

struct transaction transaction_seen(struct world *world, const char *id);

/* Run one step; true: the transaction has ended. */
bool transaction_step(struct worker *worker, const char *id);
void transaction_run(struct world *world, const char *id);

/* The status of this attempt in the timeline. */
void transaction_attempted(
    const struct transaction *transaction, size_t i, enum status status, const char *reason);

#endif
