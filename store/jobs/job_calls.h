/*
 * job_calls.h - requests about long-running operations: reading and listing them, and how a request begins
 * one. Workers carry them on: see worker_run_operation.
 */
#ifndef STORE_JOBS_JOB_CALLS_H
#define STORE_JOBS_JOB_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* Give an OPERATION_RUN_GET (or _WAIT: the state as it is) its outcome. OPERATION_NOT_FOUND. */
void run_get_run(struct session *session, struct operation *operation);

void run_list_run(struct session *session, struct operation *operation);

/* Give an OPERATION_RUN_CONTROL its outcome. OPERATION_NOT_FOUND, OPERATION_NOT_CONTROLLABLE. */
void run_control_run(struct session *session, struct operation *operation);

/* A new operation, to be committed with what begins it. */
struct run_begin {
    struct str operation_id;
    struct str account;
    const char *kind; /* "build", "drop_index", "delete_range" */
    struct str target;
    int64_t table_id;  /* the source table, or the one to purge */
    int64_t index_id;  /* 0: none */
    struct str filter; /* range deletes */
    int64_t started;   /* ticks */
};

/* One statement, whose rows nobody reads. */
MUST_USE enum status run_send_begin(
    struct session *session, const struct run_begin *begin, struct error *err);

/* "build-1a2b": what a kind's operations on an id are called. */
struct str run_id(const char *prefix, int64_t id, struct arena *arena);

/* What a new operation looks like to callers; borrows from begin. */
struct run_view run_view_of(const struct run_begin *begin);

/* The nine columns of run_list from `column` on, copied into the arena. */
struct run_view run_row_read(const PGresult *result, int row, int column, struct arena *arena);

#endif
