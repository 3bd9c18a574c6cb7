/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_calls.h - requests about indexes: creating, reading, listing, changing, dropping. Each function gives one
 * operation its outcome. Builds, changes and drops are carried out by workers: see job_work_run.
 */
#ifndef STORE_INDEXES_INDEX_CALLS_H
#define STORE_INDEXES_INDEX_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * The index, BUILDING, and its build, through the fence. Outcome: out.index, one view.
 * TABLE_NOT_FOUND, INDEX_OWNED (the source is an index itself), INDEX_EXISTS, TABLE_ALREADY_EXISTS,
 * INVALID_INPUT (too many indexes on one table), DATABASE_DISTRIBUTED (a strong index in other partitions).
 */
void index_calls_create(struct session *session, struct operation *operation);

/* Outcome: out.index, one view. INDEX_NOT_FOUND. */
void index_calls_get(struct session *session, struct operation *operation);

void index_calls_list(struct session *session, struct operation *operation);

/*
 * An OPERATION_INDEX_UPDATE, through the fence: from now on entries commit with their writes (STRONG), or follow them
 * (EVENTUAL). If the index has that consistency already, nothing is changed. Outcome: out.index, one view; `update` if
 * older writes must still be brought in, which makes the index a strong one. INDEX_NOT_FOUND, INVALID_INPUT (entries in
 * the partition of their source always come with their writes), DATABASE_DISTRIBUTED, TOO_MANY_OPERATIONS,
 * QUOTA_EXCEEDED.
 */
void index_calls_update(struct session *session, struct operation *operation);

/*
 * DROPPING through the fence; the name is free at once, a running build is cancelled, and so is a replacement, which
 * goes too. Outcome: out.jobs, one. INDEX_NOT_FOUND.
 */
void index_calls_drop(struct session *session, struct operation *operation);

#endif
