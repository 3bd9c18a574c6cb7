/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - see the header.
 */
#include "store/jobs/job.h"

#include "base/clock.h"
#include "store/sql.h"

void job_range_params(const struct job *job, int64_t limit, struct arena *arena, struct pg_params *params)
{
    pg_params_init(params, arena);
    pg_add_int8(params, job->table_id);
    pg_add_bytes(params, job->cursor.partition);
    pg_add_bytes(params, job->cursor.row);
    pg_add_bool(params, job->has_cursor);
    pg_add_int8(params, limit);
}

enum status job_checkpoint_in(struct session *session, const struct job *job, struct error *err)
{
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, job->id);
    pg_add_bytes(&params, job->owner);
    pg_add_int2(&params, (int16_t)job->state);
    pg_add_int2(&params, job->phase);
    pg_add_bool(&params, job->has_cursor);
    pg_add_bytes(&params, job->cursor.partition);
    pg_add_bytes(&params, job->cursor.row);
    pg_add_int8(&params, job->done);
    pg_add_int8(&params, job->total);
    pg_add_int8(&params, job->faults);
    pg_add_int8(&params, job->state == JOB_RUNNING ? 0 : clock_ticks());
    pg_add_bytes(&params, job->error);
    TRY(pg_query(&session->pg, &sql_job_checkpoint, &params, &row, err));
    if (PQntuples(row) == 0)
        return error_set(err, STATUS_CANCELLED,
            "operation %.*s has ended, or another worker has taken it over", STR_ARG(job->id));
    return STATUS_OK;
}

static enum status checkpoint(struct session *session, void *context, struct error *err)
{
    return job_checkpoint_in(session, context, err);
}

enum status job_checkpoint(struct job *job, struct error *err)
{
    enum status status = worker_attempt(job->store, checkpoint, job, err);

    return status == STATUS_CANCELLED ? STATUS_OK : status;
}
