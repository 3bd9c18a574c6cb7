/*
 * index_calls.h - requests about indexes: creating, reading, listing, dropping. Each function gives one
 * operation its outcome. Builds and drops are carried out by workers: see worker_run_operation.
 */
#ifndef STORE_INDEXES_INDEX_CALLS_H
#define STORE_INDEXES_INDEX_CALLS_H

#include "domain/operations/operation.h"
#include "store/jobs/job_calls.h"
#include "store/session/session.h"

/*
 * The index, BUILDING, and its build, through the fence. Outcome: out.index, one view.
 * TABLE_NOT_FOUND, INDEX_OWNED (the source is an index itself), INDEX_EXISTS, TABLE_ALREADY_EXISTS,
 * INVALID_INPUT (too many indexes on one table).
 */
void index_create_run(struct session *session, struct operation *operation);

/* Outcome: out.index, one view. INDEX_NOT_FOUND. */
void index_get_run(struct session *session, struct operation *operation);

void index_list_run(struct session *session, struct operation *operation);

/*
 * DROPPING through the fence; the name is free at once, a running build is cancelled. Outcome: out.runs, one.
 * INDEX_NOT_FOUND.
 */
void index_drop_run(struct session *session, struct operation *operation);

#endif
