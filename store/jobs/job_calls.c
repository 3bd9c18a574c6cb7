/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_calls.c - see the header.
 */
#include "store/jobs/job_calls.h"

#include <inttypes.h>

#include "base/clock.h"
#include "domain/reason.h"
#include "store/session/attempt.h"
#include "store/sql.h"

enum admit_column { ADMIT_OPEN, ADMIT_ID };

enum status job_calls_admit(struct session *session, struct str account, int64_t *id, struct error *err)
{
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, account);
    pg_add_int8(&params, LIMIT_OPEN_OPERATIONS);
    TRY(pg_query(&session->pg, &sql_job_admit, &params, &row, err));
    if (pg_int8(row, 0, ADMIT_OPEN) >= LIMIT_OPEN_OPERATIONS)
        return reason_set(err, REASON_TOO_MANY_OPERATIONS,
            "%d operations of the account have not ended, and more are not allowed: wait for some, or cancel "
            "them",
            LIMIT_OPEN_OPERATIONS);
    *id = pg_int8(row, 0, ADMIT_ID);
    return STATUS_OK;
}

struct str job_calls_id(const char *prefix, int64_t id, struct arena *arena)
{
    return arena_format(arena, "%s-%" PRIx64, prefix, (uint64_t)id);
}

struct job_view job_calls_view(const struct job_start *begin)
{
    return (struct job_view){
        .operation_id = begin->operation_id,
        .kind = str_of(begin->kind),
        .target = begin->target,
        .state = JOB_RUNNING,
        .started = begin->started,
        .error = STR_EMPTY,
    };
}

enum status job_calls_send_start(struct session *session, const struct job_start *begin, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, begin->operation_id);
    pg_add_bytes(&params, begin->account);
    pg_add_bytes(&params, str_of(begin->kind));
    pg_add_bytes(&params, begin->target);
    pg_add_int8(&params, begin->started);
    pg_add_int8(&params, begin->table_id);
    pg_add_int8(&params, begin->index_id);
    pg_add_bytes(&params, begin->filter.len > 0 ? begin->filter : STR_EMPTY);
    return pg_send(&session->pg, &sql_job_insert, &params, err);
}

enum job_column {
    JOB_COLUMN_ID,
    JOB_COLUMN_KIND,
    JOB_COLUMN_TARGET,
    JOB_COLUMN_STATE,
    JOB_COLUMN_DONE,
    JOB_COLUMN_TOTAL,
    JOB_COLUMN_STARTED,
    JOB_COLUMN_ENDED,
    JOB_COLUMN_ERROR,
};

struct job_view job_calls_read_row(const PGresult *result, int row, int column, struct arena *arena)
{
    return (struct job_view){
        .operation_id = arena_copy(arena, pg_bytes(result, row, column + JOB_COLUMN_ID)),
        .kind = arena_copy(arena, pg_bytes(result, row, column + JOB_COLUMN_KIND)),
        .target = arena_copy(arena, pg_bytes(result, row, column + JOB_COLUMN_TARGET)),
        .state = (enum job_state)pg_int2(result, row, column + JOB_COLUMN_STATE),
        .done = pg_int8(result, row, column + JOB_COLUMN_DONE),
        .total = pg_int8(result, row, column + JOB_COLUMN_TOTAL),
        .started = pg_int8(result, row, column + JOB_COLUMN_STARTED),
        .ended = pg_int8(result, row, column + JOB_COLUMN_ENDED),
        .error = arena_copy(arena, pg_bytes(result, row, column + JOB_COLUMN_ERROR)),
    };
}

static enum status read_page(
    struct session *session, struct operation *operation, struct str only, int32_t limit, struct error *err)
{
    struct outcome_jobs out = { 0 };
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, only.len > 0 ? STR_EMPTY : operation->in.jobs.after);
    pg_add_bytes(&params, only);
    pg_add_int8(&params, (int64_t)limit + 1);
    TRY(pg_query(&session->pg, &sql_job_list, &params, &rows, err));
    out.more = PQntuples(rows) > limit;
    out.count = out.more ? (size_t)limit : (size_t)PQntuples(rows);
    out.jobs = ARENA_ARRAY(operation->arena, struct job_view, out.count);
    for (size_t i = 0; i < out.count; i++)
        out.jobs[i] = job_calls_read_row(rows, (int)i, 0, operation->arena);
    if (out.more)
        out.position = out.jobs[out.count - 1].operation_id;
    operation->out.jobs = out;
    return STATUS_OK;
}

static enum status get(struct session *session, struct operation *operation, struct error *err)
{
    struct str id = operation->in.jobs.operation_id;

    if (id.len > 0)
        TRY(read_page(session, operation, id, 1, err));
    if (id.len == 0 || operation->out.jobs.count == 0)
        return reason_set(err, REASON_OPERATION_NOT_FOUND, "there is no operation \"%.*s\"", STR_ARG(id));
    return STATUS_OK;
}

void job_calls_get(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, get);
}

static enum status list(struct session *session, struct operation *operation, struct error *err)
{
    return read_page(session, operation, STR_EMPTY, operation->in.jobs.limit, err);
}

void job_calls_list(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list);
}

/* ---- control ---- */

/*
 * Nothing was changed: the operation is in the requested state already, or cannot be put into it.
 */
static enum status not_controlled(struct session *session, struct operation *operation, struct error *err)
{
    const struct job_view *run;

    TRY(get(session, operation, err));
    run = &operation->out.jobs.jobs[0];
    if (operation->in.jobs.control == JOB_CANCEL && run->state == JOB_CANCELLED)
        return STATUS_OK;
    reason_set(err, REASON_OPERATION_NOT_CONTROLLABLE,
        str_equal(run->kind, STR_LITERAL("scrub_index"))
            ? "workers start a %.*s by themselves: callers cannot control it"
        : run->state == JOB_RUNNING || run->state == JOB_PAUSED ? "a %.*s cannot be cancelled"
                                                                : "the %.*s has ended",
        STR_ARG(run->kind));
    return STATUS_PRECONDITION;
}

/* Repeating the statement is harmless, also after a lost answer: the last command counts. */
enum status job_calls_control_one(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_jobs *in = &operation->in.jobs;
    struct outcome_jobs *out = &operation->out.jobs;
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, in->operation_id);
    pg_add_int2(&params, (int16_t)in->control);
    pg_add_int8(&params, in->rate);
    pg_add_int8(&params, clock_ticks());
    TRY(session_begin_statement(session, &sql_job_control, &params, &row, err));
    if (PQntuples(row) == 0) {
        pg_recover(&session->pg); /* rolls back */
        return not_controlled(session, operation, err);
    }
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    *out = (struct outcome_jobs){ .jobs = ARENA_NEW(operation->arena, struct job_view), .count = 1 };
    out->jobs[0] = job_calls_read_row(row, 0, 0, operation->arena);
    return STATUS_OK;
}

void job_calls_control(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, job_calls_control_one);
}
