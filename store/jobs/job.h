/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - a long-running operation (a job) that this worker carries on: its row, and checkpoints. What a kind of job
 * does in a chunk stands with its kind: index_build.h, range_delete.h, purge.h.
 */
#ifndef STORE_JOBS_JOB_H
#define STORE_JOBS_JOB_H

#include "domain/keys/entity_key.h"
#include "domain/operations/operation.h"
#include "store/session/worker_attempt.h"

/* A job that this worker has claimed. Everything lives in its arena, which outlasts the attempts. */
struct job {
    struct worker *store;
    struct arena arena;
    struct str id, kind, owner;
    int64_t table_id, index_id;
    struct str filter;
    bool is_scrub;  /* a pass of the scrub, and nothing else */
    bool is_gentle; /* it has a rate: chunks are small, and each ends with a checkpoint */
    /* what a checkpoint writes */
    enum job_state state;
    int16_t phase;
    bool has_cursor;
    struct entity_key cursor;
    int64_t done, total, faults;
    struct str error;
};

/* Commit how far it has come, and let go. That another worker was faster is not an error. */
MUST_USE enum status job_checkpoint(struct job *job, struct error *err);

/* The checkpoint inside a transaction: STATUS_CANCELLED: another worker was faster, or it has ended. */
MUST_USE enum status job_checkpoint_in(struct session *session, const struct job *job, struct error *err);

/*
 * The parameters of a statement that takes the keys behind the cursor: the table, the cursor's partition key and row
 * key, whether there is a cursor, and the limit.
 */
void job_range_params(const struct job *job, int64_t limit, struct arena *arena, struct pg_params *params);

#endif
