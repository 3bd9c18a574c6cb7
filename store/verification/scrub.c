/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scrub.c - see the header. If two workers are about to begin a pass over the same index, its row
 * in index_scrubs decides: the first one has raised the count of passes, so the second one finds
 * another count.
 */
#include "store/verification/scrub.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "store/jobs/job_calls.h"
#include "store/jobs/report_calls.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

struct scrub {
    bool is_due;
    const struct index *index;
    int64_t passes, id;
    bool is_full;
};

enum next_column { NEXT_INDEX, NEXT_PASSES, NEXT_DIFFERENCES, NEXT_ID };

static enum status find_next(struct session *session, struct scrub *work, struct error *err)
{
    const struct table *entries;
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, SCRUBS_AT_A_TIME);
    pg_add_int8(&params, SCRUB_EVERY_S);
    TRY(pg_query(&session->pg, &sql_scrub_next, &params, &row, err));
    work->is_due = false;
    if (PQntuples(row) == 0)
        return STATUS_OK;
    entries = catalogue_find_id(session->catalogue, pg_int8(row, 0, NEXT_INDEX));
    work->index = entries ? entries->entries_of : NULL;
    work->passes = pg_int8(row, 0, NEXT_PASSES);
    work->is_full = work->passes % SCRUB_FULL_PASSES == 0 || pg_int8(row, 0, NEXT_DIFFERENCES) > 0;
    work->id = pg_int8(row, 0, NEXT_ID);
    work->is_due = work->index && work->index->state == INDEX_READY;
    return STATUS_OK;
}

/* Begin the pass. *is_due is false if another worker has begun it. */
static enum status take_pass(struct session *session, struct scrub *work, struct error *err)
{
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, work->index->index_id);
    pg_add_int8(&params, work->passes);
    TRY(pg_query(&session->pg, &sql_scrub_begin, &params, &row, err));
    work->is_due = PQntuples(row) > 0;
    return STATUS_OK;
}

static enum status send_forget(struct session *session, const struct scrub *work, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, work->index->index_id);
    return pg_send(&session->pg, &sql_scrub_forget, &params, err);
}

static enum status begin_pass(struct session *session, void *context, struct error *err)
{
    struct scrub *work = context;
    struct operation_verify what = { .report_id = STR_EMPTY };
    struct job_start start = { .kind = "scrub_index", .started = clock_ticks() };
    int64_t now_us;

    TRY(session_refresh(session, NULL, err));
    TRY(find_next(session, work, err));
    if (!work->is_due)
        return STATUS_OK;
    what.is_fast = !work->is_full;
    start.operation_id = job_calls_id("scrub", work->id, &session->arena);
    start.account = work->index->account;
    start.target = work->index->name;
    start.table_id = work->index->source_table_id;
    start.index_id = work->index->index_id;
    TRY(session_begin(session, &now_us, err));
    TRY(take_pass(session, work, err));
    if (!work->is_due) {
        pg_recover(&session->pg);
        return STATUS_OK;
    }
    TRY(report_calls_send(session, &what, &start, err));
    TRY(send_forget(session, work, err));
    FAILPOINT_TRY("scrub.before_begin", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

enum status scrub_begin(struct worker *store, bool *begun, struct error *err)
{
    struct scrub work = { 0 };

    TRY(worker_attempt(store, begin_pass, &work, err));
    *begun = work.is_due;
    return STATUS_OK;
}
