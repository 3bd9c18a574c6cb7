/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_work.c - carries out long-running operations, a chunk at a time: the table of their kinds,
 * and what happens if a chunk fails.
 *
 * Any worker may do any chunk, even twice or late: repeating a chunk does no harm, and the
 * operation's row decides whose progress counts. The row also names the worker that has claimed the
 * operation, so repetitions are rare. Drops and purges need no fence, since the change that began
 * them went through the fence, and no server writes what they delete. Only the state rows that a
 * dropped index shares with other indexes need it: state_purge.c.
 */
#include "store/job_work.h"

#include "base/failpoint.h"
#include "store/background/chunk_move.h"
#include "store/background/range_delete.h"
#include "store/builds/index_build.h"
#include "store/builds/index_update.h"
#include "store/indexes/purge.h"
#include "store/indexes/replacement_calls.h"
#include "store/jobs/crew.h"
#include "store/jobs/job_claim.h"
#include "store/verification/scrub.h"
#include "store/verification/verify_job.h"

/* ---- kinds ---- */

static const struct job_kind {
    const char *name;
    enum status (*chunk)(struct job *job, struct error *err);
    /* commits that the operation has failed */
    enum status (*fail)(struct job *job, struct error *err);
} kinds[] = {
    { "build", index_build_chunk, job_checkpoint },
    { "replace_index", index_build_chunk, replacement_calls_give_up },
    { "drop_index", purge_index_chunk, job_checkpoint },
    { "delete_table", purge_table_chunk, job_checkpoint },
    { "move_chunks", chunk_move_batch, job_checkpoint },
    { "delete_range", range_delete_chunk, job_checkpoint },
    { "update_index", index_update_chunk, job_checkpoint },
    { "verify_index", verify_job_chunk, job_checkpoint },
    { "repair_index", verify_job_chunk, job_checkpoint },
    { "scrub_index", verify_job_chunk, job_checkpoint },
};

static const struct job_kind *kind_of(const struct job *job)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_equal(job->kind, str_of(kinds[i].name)))
            return &kinds[i];
    return NULL;
}

static enum status work_on(struct job *job, struct error *err)
{
    const struct job_kind *kind = kind_of(job);

    if (kind)
        return kind->chunk(job, err);
    return error_set(err, STATUS_INTERNAL, "operation %.*s is of an unknown kind, %.*s", STR_ARG(job->id),
        STR_ARG(job->kind));
}

/*
 * The reason of a failure as callers may see it. A message of the database may name hosts, roles
 * and rows, so it is only in the database's log.
 */
static struct str reason_to_store(struct job *job, const struct error *err)
{
    if (!err->sqlstate[0])
        return str_of(err->message);
    return arena_format(&job->arena,
        "the database refused a statement with SQLSTATE %s: the log of the database says why", err->sqlstate);
}

/* If a retry would not help, end the operation; otherwise release it unchanged. */
static enum status give_back(struct job *job, enum status status, struct error *err)
{
    const struct job_kind *kind = kind_of(job);
    struct error ignored;
    enum status released;

    if (!pg_is_transient(err) && status != STATUS_MAYBE_DONE) {
        job->state = JOB_FAILED;
        job->error = reason_to_store(job, err);
        return (kind ? kind->fail : job_checkpoint)(job, &ignored) == STATUS_OK ? STATUS_OK : status;
    }
    /* If the release fails too, the claim expires by itself. */
    released = job_claim_release(job, &ignored);
    (void)released;
    return status;
}

static enum status run(struct job *job, bool *worked, struct error *err)
{
    struct error failure = { 0 };
    enum status status;

    arena_init(&job->arena);
    status = job_claim_take(job, &failure);
    if (status == STATUS_OK && job->id.len > 0) {
        FAILPOINT("operation.after_claim");
        status = crew_look_around(job->store, &failure);
        if (status == STATUS_OK)
            status = work_on(job, &failure);
        if (status != STATUS_OK)
            status = give_back(job, status, &failure);
    }
    if (status == STATUS_OK)
        *worked = job->id.len > 0;
    else if (err)
        *err = failure;
    arena_cleanup(&job->arena);
    return status;
}

enum status job_work_run(struct worker *store, bool *worked, struct error *err)
{
    struct job job = { .store = store, .error = STR_EMPTY };

    return run(&job, worked, err);
}

enum status job_work_scrub(struct worker *store, bool *worked, struct error *err)
{
    struct job job = { .store = store, .error = STR_EMPTY, .group = JOB_GROUP_SCRUB };
    bool begun;

    TRY(scrub_begin(store, &begun, err));
    return run(&job, worked, err);
}

enum status job_work_move_chunks(struct worker *store, bool (*is_stopping)(const void *who), const void *who,
    struct chunk_turn *turn, struct error *err)
{
    struct job job = {
        .store = store, .error = STR_EMPTY, .group = JOB_GROUP_CHUNKS, .is_stopping = is_stopping, .who = who
    };
    enum status status;

    *turn = (struct chunk_turn){ .worked = false };
    status = run(&job, &turn->worked, err);
    turn->is_store_down = job.is_store_down;
    return status;
}
