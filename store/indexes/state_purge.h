/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_purge.h - removes the state rows that a dropped index leaves behind.
 */
#ifndef STORE_INDEXES_STATE_PURGE_H
#define STORE_INDEXES_STATE_PURGE_H

#include "store/jobs/job.h"

/*
 * Do one chunk of the walk over the state rows of a dropped index's table, from the job's cursor
 * on, and store the checkpoint. *is_over: the chunk was the last one; its checkpoint is left to the
 * caller.
 */
MUST_USE enum status state_purge_chunk(struct job *job, bool *is_over, struct error *err);

#endif
