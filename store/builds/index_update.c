/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_update.c - see the header.
 *
 * The walk goes forward only. A key that gets an intent behind the walk was written after the walk
 * began, so its entries were written with it; a key whose work was done before the walk reaches it
 * was reconciled by a worker. A change of the index back to an eventual one ends the operation in
 * the same commit. If a worker resumes the operation late, its checkpoint fails, and the index is
 * not declared strong without a new walk.
 */
#include "store/builds/index_update.h"

#include "base/failpoint.h"
#include "domain/indexes/index_codec.h"
#include "store/indexes/reconcile.h"
#include "store/session/catalogue_change.h"
#include "store/sql.h"

enum { CHUNK_KEYS = 500 };

struct behind {
    struct job *job;
    /* the index is gone, or need not become strong any more */
    bool is_over;
    struct intent *keys;
    size_t count;
};

static const struct index *find_index(const struct session *session, const struct job *job)
{
    const struct table *entries = catalogue_find_id(session->catalogue, job->index_id);
    const struct index *index = entries ? entries->entries_of : NULL;

    return index && index->state != INDEX_DROPPING && index->consistency == INDEX_BECOMING_STRONG ? index
                                                                                                  : NULL;
}

enum key_column { KEY_PARTITION, KEY_ROW };

static void take_keys(struct behind *work, const PGresult *rows)
{
    struct job *job = work->job;

    work->count = (size_t)PQntuples(rows);
    work->keys = ARENA_ARRAY(&job->arena, struct intent, work->count);
    for (size_t i = 0; i < work->count; i++)
        work->keys[i] = (struct intent){ .kind = INTENT_RECONCILE,
            .table_id = job->table_id,
            .key = { arena_copy(&job->arena, pg_bytes(rows, (int)i, KEY_PARTITION)),
                arena_copy(&job->arena, pg_bytes(rows, (int)i, KEY_ROW)) } };
}

static enum status read_chunk(struct session *session, void *context, struct error *err)
{
    struct behind *work = context;
    const struct job *job = work->job;
    struct pg_params params;
    PG_RESULT rows = NULL;

    TRY(session_refresh(session, NULL, err));
    work->is_over = !find_index(session, job);
    if (work->is_over)
        return STATUS_OK;
    job_range_params(job, CHUNK_KEYS, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_behind_chunk, &params, &rows, err));
    take_keys(work, rows);
    return STATUS_OK;
}

/* Declare the index strong through the fence, in one commit with the end of the operation. */
static enum status declare_strong(struct session *session, void *context, struct error *err)
{
    const struct job *job = context;
    const struct index *index;
    struct index strong;
    struct pg_params params;
    PG_RESULT updated = NULL;

    TRY(session_refresh(session, NULL, err));
    index = find_index(session, job);
    if (!index)
        return error_set(err, STATUS_CANCELLED, "the index is not to become a strong one any more");
    strong = *index;
    strong.consistency = INDEX_STRONG;
    TRY(catalogue_change_begin(session, err));
    TRY(job_checkpoint_in(session, job, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, job->index_id);
    pg_add_bytes(&params, index_codec_encode(&strong, &session->arena));
    TRY(pg_query(&session->pg, &sql_index_set_definition, &params, &updated, err));
    FAILPOINT_TRY("update.before_strong", err);
    TRY(catalogue_change_commit(session, job->table_id, err));
    FAILPOINT("update.after_strong");
    return STATUS_OK;
}

static enum status end_as(struct job *job, enum job_state state, struct error *err)
{
    enum status status;

    job->state = state;
    job->total = job->done;
    if (state == JOB_CANCELLED)
        return job_checkpoint(job, err);
    status = worker_attempt(job->store, declare_strong, job, err);
    return status == STATUS_CANCELLED ? STATUS_OK : status;
}

enum status index_update_chunk(struct job *job, struct error *err)
{
    struct behind work = { .job = job };

    TRY(worker_attempt(job->store, read_chunk, &work, err));
    if (work.is_over)
        return end_as(job, JOB_CANCELLED, err);
    if (work.count == 0)
        return end_as(job, JOB_DONE, err);
    TRY(reconcile_each(job->store, work.keys, work.count, err));
    FAILPOINT_TRY("update.chunk_before_checkpoint", err);
    job->done += (int64_t)work.count;
    job->has_cursor = true;
    job->cursor = work.keys[work.count - 1].key;
    return job_checkpoint(job, err);
}
