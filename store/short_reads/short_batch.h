/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_batch.h - many look-ups and pages as one flight: the lag once, then the rows of up to 16 of them in a
 * statement, which brings the sources of checked look-ups too. The first are answered while the database is at the
 * others.
 *
 * An operation that turns out not to be short, or that must be refused, gets no outcome here, but a
 * detour (operation_times.h): it then runs alone, so that it neither delays nor fails the other operations.
 */
#ifndef STORE_SHORT_READS_SHORT_BATCH_H
#define STORE_SHORT_READS_SHORT_BATCH_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

enum { SHORT_BATCH_MAX_OPERATIONS = 64, SHORT_BATCH_MAX_COST = 64 };

/* Whether a batch may have this operation. */
bool short_batch_may_have(const struct operation *operation);

/* Give each operation of the list its outcome or a detour; what it answers is what the routes' functions would. */
void short_batch_run(struct session *session, struct operation *batch, void *context);

/*
 * What an operation that the batch has answered has cost, beside what the smallest of its kind costs: in entities that
 * a point read reads, up to SHORT_BATCH_MAX_COST. 0 for what is to be run by itself.
 */
int64_t short_batch_cost(const struct operation *operation);

/* The same in steps: lane.h. For batches without tokens, of indexes and tables that the session knows. */
void *short_batch_begin(struct session *session, struct operation *batch);
bool short_batch_finish(
    struct session *session, void *begun, struct operation **batch, struct operation **decided);

#endif
