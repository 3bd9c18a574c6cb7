/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_claim.c - see the header. Each function sends one statement.
 */
#include "store/jobs/job_claim.h"

#include <inttypes.h>

#include "store/sql.h"

enum { CLAIM_MS = 5000 };

enum claim_column {
    CLAIM_ID,
    CLAIM_KIND,
    CLAIM_TABLE,
    CLAIM_INDEX,
    CLAIM_PHASE,
    CLAIM_HAS_CURSOR,
    CLAIM_CURSOR_PARTITION,
    CLAIM_CURSOR_ROW,
    CLAIM_DONE,
    CLAIM_TOTAL,
    CLAIM_FAULTS,
    CLAIM_FILTER,
    CLAIM_RATE,
    CLAIM_TARGET,
};

static enum status claim_one(struct session *session, void *context, struct error *err)
{
    struct job *job = context;
    struct pg_params params;
    PG_RESULT row = NULL;

    /*
     * The owner contains random bits of the connection, since two threads of one worker are two
     * owners.
     */
    job->owner = arena_format(
        &job->arena, "%.*s/%" PRIx64, STR_ARG(job->store->worker), (uint64_t)session->connection_id);
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, job->owner);
    pg_add_int8(&params, CLAIM_MS);
    pg_add_int2(&params, (int16_t)job->group);
    TRY(pg_query(&session->pg, &sql_job_claim, &params, &row, err));
    if (PQntuples(row) == 0)
        return STATUS_OK;
    job->id = arena_copy(&job->arena, pg_bytes(row, 0, CLAIM_ID));
    job->kind = arena_copy(&job->arena, pg_bytes(row, 0, CLAIM_KIND));
    job->target = arena_copy(&job->arena, pg_bytes(row, 0, CLAIM_TARGET));
    job->table_id = pg_int8(row, 0, CLAIM_TABLE);
    job->index_id = pg_int8(row, 0, CLAIM_INDEX);
    job->phase = pg_int2(row, 0, CLAIM_PHASE);
    job->has_cursor = pg_bool(row, 0, CLAIM_HAS_CURSOR);
    job->cursor.partition = arena_copy(&job->arena, pg_bytes(row, 0, CLAIM_CURSOR_PARTITION));
    job->cursor.row = arena_copy(&job->arena, pg_bytes(row, 0, CLAIM_CURSOR_ROW));
    job->done = pg_int8(row, 0, CLAIM_DONE);
    job->total = pg_int8(row, 0, CLAIM_TOTAL);
    job->faults = pg_int8(row, 0, CLAIM_FAULTS);
    job->filter = arena_copy(&job->arena, pg_bytes(row, 0, CLAIM_FILTER));
    job->is_gentle = job->group == JOB_GROUP_SCRUB || pg_int8(row, 0, CLAIM_RATE) > 0;
    job->state = JOB_RUNNING;
    return STATUS_OK;
}

static enum status release_claimed(struct session *session, void *context, struct error *err)
{
    const struct job *job = context;
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, job->id);
    pg_add_bytes(&params, job->owner);
    return pg_query(&session->pg, &sql_job_release, &params, &row, err);
}

enum status job_claim_take(struct job *job, struct error *err)
{
    return worker_attempt(job->store, claim_one, job, err);
}

enum status job_claim_release(struct job *job, struct error *err)
{
    return worker_attempt(job->store, release_claimed, job, err);
}
