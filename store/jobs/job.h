/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - a long-running operation (a job) that this worker carries out: its row, and checkpoints.
 * The header of each kind of job says what a chunk does: index_build.h, range_delete.h, purge.h.
 */
#ifndef STORE_JOBS_JOB_H
#define STORE_JOBS_JOB_H

#include "domain/keys/entity_key.h"
#include "domain/operations/operation.h"
#include "store/session/worker_attempt.h"

/* Which jobs a thread of a worker carries out. */
enum job_group {
    JOB_GROUP_TABLES, /* all kinds but the following */
    JOB_GROUP_SCRUB,  /* passes of the scrub */
    JOB_GROUP_CHUNKS, /* moves of chunks of blobs, which wait for their stores */
};

/*
 * A job that this worker has claimed. All its memory is in its arena, which outlasts the attempts.
 */
struct job {
    struct worker *store;
    struct arena arena;
    struct str id, kind, target, owner;
    int64_t table_id, index_id;
    struct str filter;
    enum job_group group;
    /* JOB_GROUP_CHUNKS: asked with `who` while a store works; true: the worker stops */
    bool (*is_stopping)(const void *who);
    const void *who;
    /* JOB_GROUP_CHUNKS: a store has failed, and no chunk could be copied */
    bool is_store_down;
    /* the job has a rate limit: its chunks are small, and each ends with a checkpoint */
    bool is_gentle;
    /* The members that a checkpoint writes. */
    enum job_state state;
    int16_t phase;
    bool has_cursor;
    struct entity_key cursor;
    int64_t done, total, faults;
    struct str error;
};

/*
 * Commit the job's progress and release it. If another worker has taken over the job, nothing is
 * written, and the call succeeds.
 */
MUST_USE enum status job_checkpoint(struct job *job, struct error *err);

/*
 * Store the checkpoint inside an open transaction. STATUS_CANCELLED: another worker has taken over
 * the job, or the job has ended.
 */
MUST_USE enum status job_checkpoint_in(struct session *session, const struct job *job, struct error *err);

/*
 * The parameters of a statement that reads the keys behind the cursor: the table, the cursor's
 * partition key and row key, whether there is a cursor, and the limit.
 */
void job_range_params(const struct job *job, int64_t limit, struct arena *arena, struct pg_params *params);

#endif
