/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_delete.h - deletes the entities that match a filter, as a job that workers carry out.
 *
 * Each entity is deleted by an ordinary write with its intents, and only if it still matches under
 * its lock. An entity that is inserted behind the cursor while the job runs is not deleted.
 */
#ifndef STORE_BACKGROUND_RANGE_DELETE_H
#define STORE_BACKGROUND_RANGE_DELETE_H

#include "domain/operations/operation.h"
#include "store/jobs/job.h"

struct session;

/*
 * Start such a job: give an OPERATION_RANGE_DELETE its outcome. TABLE_NOT_FOUND, INDEX_OWNED,
 * PLAN_TOO_EXPENSIVE.
 */
void range_delete_start(struct session *session, struct operation *operation);

/* One chunk of a job of the kind "delete_range". */
MUST_USE enum status range_delete_chunk(struct job *job, struct error *err);

#endif
