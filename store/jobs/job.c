/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - see the header.
 */
#include "store/jobs/job.h"

#include "base/clock.h"
#include "store/sql.h"

enum status job_checkpoint_in(struct session *session, const struct job *run, struct error *err)
{
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, run->id);
    pg_add_bytes(&params, run->owner);
    pg_add_int2(&params, (int16_t)run->state);
    pg_add_int2(&params, run->phase);
    pg_add_bool(&params, run->has_cursor);
    pg_add_bytes(&params, run->cursor.partition);
    pg_add_bytes(&params, run->cursor.row);
    pg_add_int8(&params, run->done);
    pg_add_int8(&params, run->total);
    pg_add_int8(&params, run->faults);
    pg_add_int8(&params, run->state == JOB_RUNNING ? 0 : clock_ticks());
    pg_add_bytes(&params, run->error);
    TRY(pg_query(&session->pg, &sql_job_checkpoint, &params, &row, err));
    if (PQntuples(row) == 0)
        return error_set(err, STATUS_CANCELLED,
            "operation %.*s has ended, or another worker has taken it over", STR_ARG(run->id));
    return STATUS_OK;
}

static enum status checkpoint(struct session *session, void *context, struct error *err)
{
    return job_checkpoint_in(session, context, err);
}

enum status job_checkpoint(struct job *run, struct error *err)
{
    enum status status = worker_attempt(run->store, checkpoint, run, err);

    return status == STATUS_CANCELLED ? STATUS_OK : status;
}
