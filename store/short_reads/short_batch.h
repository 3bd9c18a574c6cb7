/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_batch.h - answers many look-ups and pages with one flight: the lag once, then statements
 * that each return the rows of up to 16 operations, and the sources of checked look-ups too. The
 * first operations are answered while the database works on the others.
 *
 * If an operation turns out not to be short, or must be refused, it gets no outcome here, but a
 * detour (operation_times.h): it then runs alone, so that it neither delays nor fails the other
 * operations.
 */
#ifndef STORE_SHORT_READS_SHORT_BATCH_H
#define STORE_SHORT_READS_SHORT_BATCH_H

#include "domain/operations/operation.h"

struct session;

enum { SHORT_BATCH_MAX_OPERATIONS = 64, SHORT_BATCH_MAX_COST = 64 };

/* Whether a batch may have this operation. */
bool short_batch_may_have(const struct operation *operation);

/*
 * Give each operation of the list its outcome or a detour. The outcome is the same as that of the
 * operation's function in routes.c.
 */
void short_batch_run(struct session *session, struct operation *batch, void *context);

/*
 * The cost of an operation that the batch has answered, beyond the cost of the smallest operation
 * of its kind, in entities of a read by key, up to SHORT_BATCH_MAX_COST. 0 for an operation that
 * gets a detour.
 */
int64_t short_batch_cost(const struct operation *operation);

/*
 * As short_batch_run in steps: lane.h. NULL: the batch has tokens, or names that the session's
 * catalogue does not have.
 */
void *short_batch_begin(struct session *session, struct operation *batch);
bool short_batch_finish(
    struct session *session, void *begun, struct operation **batch, struct operation **decided);

#endif
