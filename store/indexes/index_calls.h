/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_calls.h - requests about indexes: create, get, list, update, drop. Each function gives one
 * operation its outcome. Workers carry out the builds, changes and drops: see job_work_run.
 */
#ifndef STORE_INDEXES_INDEX_CALLS_H
#define STORE_INDEXES_INDEX_CALLS_H

#include "domain/operations/operation.h"

struct session;

/*
 * Create an index, which is BUILDING at first, and start its build, through the fence. Outcome:
 * out.index, one view.
 *
 * TABLE_NOT_FOUND, INDEX_OWNED (the source is an index itself), INDEX_EXISTS, TABLE_ALREADY_EXISTS,
 * INVALID_INPUT (the table has too many indexes), DATABASE_DISTRIBUTED (a strong index with entries
 * in other partitions).
 */
void index_calls_create(struct session *session, struct operation *operation);

/* Read an index. Outcome: out.index, one view. INDEX_NOT_FOUND. */
void index_calls_get(struct session *session, struct operation *operation);

void index_calls_list(struct session *session, struct operation *operation);

/*
 * Carry out an OPERATION_INDEX_UPDATE, through the fence: from now on entries commit with their
 * writes (STRONG), or follow them (EVENTUAL). If the index has that consistency already, nothing is
 * changed. Outcome: out.index, one view; if entries of earlier writes may be missing, its `update`
 * is the operation that adds them and then makes the index a strong one.
 *
 * INDEX_NOT_FOUND, INVALID_INPUT (entries in the partition of their source always commit with their
 * writes), DATABASE_DISTRIBUTED, TOO_MANY_OPERATIONS, QUOTA_EXCEEDED.
 */
void index_calls_update(struct session *session, struct operation *operation);

/*
 * Set an index to DROPPING through the fence. Its name is free at once; a running build is
 * cancelled, and a replacement of the index is cancelled and dropped too. Outcome: out.jobs, one.
 * INDEX_NOT_FOUND.
 */
void index_calls_drop(struct session *session, struct operation *operation);

#endif
