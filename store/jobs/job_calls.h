/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_calls.h - requests about long-running operations: reading and listing them, and how a request begins
 * one. Workers carry them on: see job_work_run.
 */
#ifndef STORE_JOBS_JOB_CALLS_H
#define STORE_JOBS_JOB_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* Give an OPERATION_JOB_GET (or _WAIT: the state as it is) its outcome. OPERATION_NOT_FOUND. */
void job_calls_get(struct session *session, struct operation *operation);

void job_calls_list(struct session *session, struct operation *operation);

/* Give an OPERATION_JOB_CONTROL its outcome. OPERATION_NOT_FOUND, OPERATION_NOT_CONTROLLABLE. */
void job_calls_control(struct session *session, struct operation *operation);
MUST_USE enum status job_calls_control_one(
    struct session *session, struct operation *operation, struct error *err);

/*
 * Operations of an account that have not ended, paused ones included; purges do not count. Calls that race may exceed
 * it by as many as they are.
 */
enum { LIMIT_OPEN_OPERATIONS = 100 };

/* Whether the account may begin one more, and an id for it. TOO_MANY_OPERATIONS. */
MUST_USE enum status job_calls_admit(
    struct session *session, struct str account, int64_t *id, struct error *err);

/* A new operation, to be committed with what begins it. */
struct job_start {
    struct str operation_id;
    struct str account;
    const char *kind; /* "build", "drop_index", "delete_range" */
    struct str target;
    int64_t table_id;  /* the source table, or the one to purge */
    int64_t index_id;  /* 0: none */
    struct str filter; /* range deletes */
    int64_t started;   /* ticks */
};

/* One statement, whose rows are not read. */
MUST_USE enum status job_calls_send_start(
    struct session *session, const struct job_start *begin, struct error *err);

/* "build-1a2b": what a kind's operations on an id are called. */
struct str job_calls_id(const char *prefix, int64_t id, struct arena *arena);

/* What a new operation looks like to callers; borrows from begin. */
struct job_view job_calls_view(const struct job_start *begin);

/* The nine columns of run_list from `column` on, copied into the arena. */
struct job_view job_calls_read_row(const PGresult *result, int row, int column, struct arena *arena);

#endif
