/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_calls.h - requests about long-running operations: get and list, and how other requests start
 * one. Workers carry the operations out: see job_work_run.
 */
#ifndef STORE_JOBS_JOB_CALLS_H
#define STORE_JOBS_JOB_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * Give an OPERATION_JOB_GET its outcome, or an OPERATION_JOB_WAIT, which gets the present state.
 * OPERATION_NOT_FOUND.
 */
void job_calls_get(struct session *session, struct operation *operation);

void job_calls_list(struct session *session, struct operation *operation);

/* Give an OPERATION_JOB_CONTROL its outcome. OPERATION_NOT_FOUND, OPERATION_NOT_CONTROLLABLE. */
void job_calls_control(struct session *session, struct operation *operation);
MUST_USE enum status job_calls_control_one(
    struct session *session, struct operation *operation, struct error *err);

/*
 * The maximum number of an account's operations that have not ended, paused ones included; purges
 * do not count. Concurrent calls may exceed it by their number.
 */
enum { LIMIT_OPEN_OPERATIONS = 100 };

/*
 * Check whether the account may start one more operation, and draw an id for it.
 * TOO_MANY_OPERATIONS.
 */
MUST_USE enum status job_calls_admit(
    struct session *session, struct str account, int64_t *id, struct error *err);

/* A new operation, to be committed together with the change that starts it. */
struct job_start {
    struct str operation_id;
    struct str account;
    const char *kind; /* "build", "drop_index", "delete_range" */
    struct str target;
    int64_t table_id;  /* the source table, or the one to purge */
    int64_t index_id;  /* 0: the operation has none */
    struct str filter; /* of a range delete */
    int64_t started;   /* ticks */
};

/* Send the statement that inserts the operation; its result has no rows to read. */
MUST_USE enum status job_calls_send_start(
    struct session *session, const struct job_start *begin, struct error *err);

/*
 * The id of an operation: a prefix for its kind, and the id of what it works on, as in
 * "build-1a2b".
 */
struct str job_calls_id(const char *prefix, int64_t id, struct arena *arena);

/* The new operation as callers see it; borrows from begin. */
struct job_view job_calls_view(const struct job_start *begin);

/* Read an operation from nine columns of job_list, beginning with `column`, into the arena. */
struct job_view job_calls_read_row(const PGresult *result, int row, int column, struct arena *arena);

#endif
