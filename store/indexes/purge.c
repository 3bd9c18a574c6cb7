/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purge.c - see the header. A chunk runs the first of the purge statements that still finds rows.
 * When no statement finds a row, the job ends.
 */
#include "store/indexes/purge.h"

#include "base/failpoint.h"
#include "store/indexes/reference_purge.h"
#include "store/indexes/state_purge.h"
#include "store/sql.h"

enum { PURGE_ROWS = 2000 };

struct purge {
    struct job *job;
    const struct embedded *sql;
    int64_t table_id;
    /*
     * the third parameter, of the dead letters' statement; -1: the statement has no such parameter
     */
    int64_t index_id;
    int64_t gone;
};

static enum status purge_chunk(struct session *session, void *context, struct error *err)
{
    struct purge *work = context;
    struct pg_params params;
    PG_RESULT count = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, work->table_id);
    pg_add_int8(&params, PURGE_ROWS);
    if (work->index_id >= 0)
        pg_add_int8(&params, work->index_id);
    TRY(pg_query(&session->pg, work->sql, &params, &count, err));
    work->gone = pg_int8(count, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}

struct ending {
    struct job *job;
    const struct embedded *sql;
    int64_t id;
};

/* Delete the row of the purged index or table and end its operation, in one commit. */
static enum status end_purge(struct session *session, void *context, struct error *err)
{
    const struct ending *work = context;
    struct pg_params params;
    PG_RESULT begun = NULL;
    PG_RESULT gone = NULL;

    TRY(pg_query(&session->pg, &sql_begin, NULL, &begun, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, work->id);
    TRY(pg_query(&session->pg, work->sql, &params, &gone, err));
    TRY(job_checkpoint_in(session, work->job, err));
    FAILPOINT_TRY("purge.before_end", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

/*
 * Run the purge statements in order, up to the first one that removes rows. *gone: the number of
 * removed rows; 0: no statement has found any.
 */
static enum status purge_some(
    struct job *job, struct purge *purges, size_t count, int64_t *gone, struct error *err)
{
    *gone = 0;
    for (size_t i = 0; i < count && *gone == 0; i++) {
        TRY(worker_attempt(job->store, purge_chunk, &purges[i], err));
        *gone = purges[i].gone;
    }
    if (*gone == 0)
        return STATUS_OK;
    job->done += *gone;
    FAILPOINT_TRY("purge.before_checkpoint", err);
    return job_checkpoint(job, err);
}

static enum status end_run(struct job *job, const struct embedded *sql, int64_t id, struct error *err)
{
    struct ending last = { job, sql, id };
    enum status status;

    job->state = JOB_DONE;
    job->total = job->done;
    status = worker_attempt(job->store, end_purge, &last, err);
    return status == STATUS_CANCELLED ? STATUS_OK : status;
}

/*
 * Phase 0 removes entries, owners of values, dead letters and the work of a copy rule; phase 1
 * removes state rows that name entries of no other index. A state row that stays may name entries
 * of this index until the next reconcile of its key.
 */
enum status purge_index_chunk(struct job *job, struct error *err)
{
    struct purge purges[] = {
        { job, &sql_purge_entities, job->index_id, -1, 0 },
        { job, &sql_purge_owners, job->index_id, -1, 0 },
        { job, &sql_purge_dead_letters, job->table_id, job->index_id, 0 },
        { job, &sql_purge_intents, job->index_id, -1, 0 },
        { job, &sql_purge_visits, job->index_id, -1, 0 },
        { job, &sql_purge_rule_letters, job->index_id, -1, 0 },
    };
    bool is_over = false;
    int64_t gone = 0;

    if (job->phase == 0)
        TRY(purge_some(job, purges, ARRAY_LEN(purges), &gone, err));
    if (gone > 0)
        return STATUS_OK;
    job->phase = 1;
    TRY(state_purge_chunk(job, &is_over, err));
    return is_over ? end_run(job, &sql_index_gone, job->index_id, err) : STATUS_OK;
}

/* The contents of blobs that the table's entities hold are given up before the entities go. */
static enum status purge_references(struct job *job, int64_t *gone, struct error *err)
{
    TRY(reference_purge_some(job->store, job->table_id, gone, err));
    if (*gone == 0)
        return STATUS_OK;
    FAILPOINT_TRY("purge.after_references", err);
    return job_checkpoint(job, err);
}

/* The table's indexes have jobs of their own, which drop them. */
enum status purge_table_chunk(struct job *job, struct error *err)
{
    struct purge purges[] = {
        { job, &sql_purge_entities, job->table_id, -1, 0 },
        { job, &sql_purge_parts, job->table_id, -1, 0 },
        { job, &sql_purge_intents, job->table_id, -1, 0 },
        { job, &sql_purge_states, job->table_id, -1, 0 },
        { job, &sql_purge_dead_letters, job->table_id, 0, 0 },
    };
    int64_t gone;

    TRY(purge_references(job, &gone, err));
    if (gone > 0)
        return STATUS_OK;
    TRY(purge_some(job, purges, ARRAY_LEN(purges), &gone, err));
    return gone > 0 ? STATUS_OK : end_run(job, &sql_table_gone, job->table_id, err);
}
