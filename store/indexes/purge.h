/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purge.h - removes the rows of dropped indexes and deleted tables, a chunk at a time. The purge
 * needs no fence: the change that dropped the index or deleted the table went through the fence, so
 * no server writes these rows any more.
 */
#ifndef STORE_INDEXES_PURGE_H
#define STORE_INDEXES_PURGE_H

#include "store/jobs/job.h"

/* One chunk of a job of the kind "drop_index": the index's entries and dead letters. */
MUST_USE enum status purge_index_chunk(struct job *job, struct error *err);

/*
 * One chunk of a job of the kind "delete_table". The table's indexes are dropped by jobs of their
 * own.
 */
MUST_USE enum status purge_table_chunk(struct job *job, struct error *err);

#endif
