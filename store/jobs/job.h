/*
 * job.h - one chunk of a long-running operation: what the files behind job_work_run share.
 */
#ifndef STORE_JOBS_JOB_H
#define STORE_JOBS_JOB_H

#include "domain/keys/entity_key.h"
#include "domain/operations/operation.h"
#include "store/session/worker_internal.h"

/* An operation in this worker's hand. Everything lives in its arena, which outlasts the attempts. */
struct run {
    struct worker *store;
    struct arena arena;
    struct str id, kind, owner;
    int64_t table_id, index_id;
    struct str filter;
    /* what a checkpoint writes */
    enum job_state state;
    int16_t phase;
    bool has_cursor;
    struct entity_key cursor;
    int64_t done, total, faults;
    struct str error;
};

/* Commit how far it has come, and let go. That another worker was faster is not an error. */
MUST_USE enum status job_work_checkpoint(struct run *run, struct error *err);

/* The checkpoint inside a transaction: STATUS_CANCELLED: another worker was faster, or it has ended. */
MUST_USE enum status job_work_checkpoint_in(struct session *session, const struct run *run, struct error *err);

/* One chunk of a build: index_build.c. */
MUST_USE enum status index_build_chunk(struct run *run, struct error *err);

/*
 * One chunk of the walk over the state rows of a dropped index's table, from the run's cursor on: state_purge.c.
 * *is_over: it was the last one, and there is no checkpoint of it.
 */
MUST_USE enum status state_purge_chunk(struct run *run, bool *is_over, struct error *err);

/* One chunk of a range's deletion: range_delete.c. */
MUST_USE enum status range_delete_chunk(struct run *run, struct error *err);

#endif
