/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_purge.h - removing the state rows that a dropped index leaves behind.
 */
#ifndef STORE_BACKGROUND_STATE_PURGE_H
#define STORE_BACKGROUND_STATE_PURGE_H

#include "store/jobs/job.h"

/*
 * One chunk of the walk over the state rows of a dropped index's table, from the job's cursor on.
 * *is_over: it was the last one, and there is no checkpoint of it.
 */
MUST_USE enum status state_purge_chunk(struct job *job, bool *is_over, struct error *err);

#endif
