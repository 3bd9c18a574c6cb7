/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replacement_calls.h - requests to replace an index by another one, and the ways in which a
 * replacement ends.
 *
 * A replacement is an index with entries, manifests, owners and violations of its own, but without
 * a name: catalogue_find does not find it. One catalogue change makes it READY, retires the other
 * index and gives the replacement its name (guard G42), so every reader finds one of the two with
 * all its entries. If the replacement fails or is cancelled before that, it is retired.
 */
#ifndef STORE_INDEXES_REPLACEMENT_CALLS_H
#define STORE_INDEXES_REPLACEMENT_CALLS_H

#include "domain/operations/operation.h"
#include "store/jobs/job.h"

struct session;

/*
 * Create the new index, BUILDING, and start its build, through the fence. Outcome: out.jobs, one.
 *
 * INDEX_NOT_FOUND, INDEX_NOT_READY (the index is being built or replaced), TOO_MANY_OPERATIONS,
 * QUOTA_EXCEEDED, INVALID_INPUT (another source table, or the table has the maximum number of
 * indexes).
 */
void replacement_calls_create(struct session *session, struct operation *operation);

/*
 * Cancel a replacement through the fence: its operation ends, and the new index is retired.
 * Outcome: out.jobs, one. OPERATION_NOT_FOUND, OPERATION_NOT_CONTROLLABLE (the operation has
 * ended).
 */
void replacement_calls_cancel(struct session *session, struct operation *operation);

/*
 * Inside the catalogue change that makes a new index READY, send the statements that give it its
 * name. If the index has its name already, or is NULL, nothing is sent.
 */
MUST_USE enum status replacement_calls_send_switch(
    struct session *session, const struct index *index, struct error *err);

/*
 * End the operation of a replacement with the state of the job, and retire the new index, in one
 * catalogue change.
 */
MUST_USE enum status replacement_calls_give_up(struct job *job, struct error *err);

#endif
