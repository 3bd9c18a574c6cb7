/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replacement_calls.h - requests to replace an index by another one, and how a replacement ends.
 *
 * A replacement is an index as any other, with entries, manifests, owners and violations of its own, but without a
 * name: catalogue_find does not find it. Its builder makes it READY, retires the other index and gives it the name in
 * one catalogue change (guard G42), so every reader finds the one or the other with all its entries. If the replacement
 * fails or is cancelled before, it is retired.
 */
#ifndef STORE_INDEXES_REPLACEMENT_CALLS_H
#define STORE_INDEXES_REPLACEMENT_CALLS_H

#include "domain/operations/operation.h"
#include "store/jobs/job.h"
#include "store/session/session.h"

/*
 * The new index, BUILDING, and its build, through the fence. Outcome: out.jobs, one.
 * INDEX_NOT_FOUND, INDEX_NOT_READY (it is being built, or replaced), TOO_MANY_OPERATIONS, QUOTA_EXCEEDED, INVALID_INPUT
 * (another table, or as many indexes on it as there may be).
 */
void replacement_calls_create(struct session *session, struct operation *operation);

/*
 * Cancel a replacement: its operation ends, and the new index is retired, through the fence. Outcome: out.jobs, one.
 * OPERATION_NOT_FOUND, OPERATION_NOT_CONTROLLABLE (it has ended).
 */
void replacement_calls_cancel(struct session *session, struct operation *operation);

/*
 * Send what gives a new index its name, inside the catalogue change that makes it READY; nothing if it has its name, or
 * is NULL.
 */
MUST_USE enum status replacement_calls_send_switch(
    struct session *session, const struct index *index, struct error *err);

/* End the operation of a replacement as the job says, and retire the new index, in one catalogue change. */
MUST_USE enum status replacement_calls_give_up(struct job *job, struct error *err);

#endif
