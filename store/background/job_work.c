/*
 * job_work.c - carrying on long-running operations, a chunk at a time.
 *
 * Any worker may do any chunk, twice or late: chunks are harmless to repeat, and the operation's row decides
 * whose progress counts. Who works on what is written there too, so that this happens seldom. Drops and
 * purges need no fence: nobody can write what they delete, since the change that began them was made through
 * it. State rows that a dropped index shares with others do: state_purge.c.
 */
#include "store/background/job_work.h"

#include "store/jobs/job.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "store/sql.h"

enum { CLAIM_MS = 5000, PURGE_ROWS = 2000 };

/* ---- in hand and out of it ---- */

static enum status claim(struct session *session, void *context, struct error *err)
{
    struct run *run = context;
    struct pg_params params;
    PG_RESULT row = NULL;

    /* The connection's random bits: two threads of one worker are two owners. */
    run->owner =
        arena_format(&run->arena, "%.*s/%" PRIx64, STR_ARG(run->store->worker), (uint64_t)session->lane);
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, run->owner);
    pg_add_int8(&params, CLAIM_MS);
    TRY(pg_query(&session->pg, &sql_job_claim, &params, &row, err));
    if (PQntuples(row) == 0)
        return STATUS_OK;
    run->id = arena_copy(&run->arena, pg_bytes(row, 0, 0));
    run->kind = arena_copy(&run->arena, pg_bytes(row, 0, 1));
    run->table_id = pg_int8(row, 0, 2);
    run->index_id = pg_int8(row, 0, 3);
    run->phase = pg_int2(row, 0, 4);
    run->has_cursor = pg_bool(row, 0, 5);
    run->cursor.partition = arena_copy(&run->arena, pg_bytes(row, 0, 6));
    run->cursor.row = arena_copy(&run->arena, pg_bytes(row, 0, 7));
    run->done = pg_int8(row, 0, 8);
    run->total = pg_int8(row, 0, 9);
    run->faults = pg_int8(row, 0, 10);
    run->filter = arena_copy(&run->arena, pg_bytes(row, 0, 11));
    run->state = JOB_RUNNING;
    return STATUS_OK;
}

static enum status release(struct session *session, void *context, struct error *err)
{
    const struct run *run = context;
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, run->id);
    pg_add_bytes(&params, run->owner);
    return pg_query(&session->pg, &sql_job_release, &params, &row, err);
}

enum status job_work_checkpoint_in(struct session *session, const struct run *run, struct error *err)
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
    return job_work_checkpoint_in(session, context, err);
}

enum status job_work_checkpoint(struct run *run, struct error *err)
{
    enum status status = worker_attempt(run->store, checkpoint, run, err);

    return status == STATUS_CANCELLED ? STATUS_OK : status;
}

/* ---- drops and purges ---- */

struct purge {
    struct run *run;
    const struct embedded *sql;
    int64_t table_id;
    int64_t index_id; /* of dead letters; -1: the statement has no such parameter */
    int64_t gone;
};

static enum status purge(struct session *session, void *context, struct error *err)
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
    work->gone = pg_int8(count, 0, 0);
    return STATUS_OK;
}

struct ending {
    struct run *run;
    const struct embedded *sql;
    int64_t id;
};

/* What was purged has no row any more, and the operation is done, in one commit. */
static enum status end(struct session *session, void *context, struct error *err)
{
    const struct ending *work = context;
    struct pg_params params;
    PG_RESULT begun = NULL;
    PG_RESULT gone = NULL;

    TRY(pg_query(&session->pg, &sql_begin, NULL, &begun, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, work->id);
    TRY(pg_query(&session->pg, work->sql, &params, &gone, err));
    TRY(job_work_checkpoint_in(session, work->run, err));
    FAILPOINT_TRY("purge.before_end", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, 0, err);
}

/* Run the first purge that still finds something. *gone: how many rows it took; 0: none does. */
static enum status purge_some(
    struct run *run, struct purge *purges, size_t count, int64_t *gone, struct error *err)
{
    *gone = 0;
    for (size_t i = 0; i < count && *gone == 0; i++) {
        TRY(worker_attempt(run->store, purge, &purges[i], err));
        *gone = purges[i].gone;
    }
    if (*gone == 0)
        return STATUS_OK;
    run->done += *gone;
    FAILPOINT_TRY("purge.before_checkpoint", err);
    return job_work_checkpoint(run, err);
}

static enum status end_run(struct run *run, const struct embedded *sql, int64_t id, struct error *err)
{
    struct ending last = { run, sql, id };
    enum status status;

    run->state = JOB_DONE;
    run->total = run->done;
    status = worker_attempt(run->store, end, &last, err);
    return status == STATUS_CANCELLED ? STATUS_OK : status;
}

/*
 * Phase 0 takes entries and dead letters, phase 1 state rows that name entries of no other index. What those that stay
 * name of this one goes when their keys are next reconciled.
 */
static enum status drop_index_chunk(struct run *run, struct error *err)
{
    struct purge purges[] = {
        { run, &sql_purge_entities, run->index_id, -1, 0 },
        { run, &sql_purge_dead_letters, run->table_id, run->index_id, 0 },
    };
    bool is_over = false;
    int64_t gone = 0;

    if (run->phase == 0)
        TRY(purge_some(run, purges, ARRAY_LEN(purges), &gone, err));
    if (gone > 0)
        return STATUS_OK;
    run->phase = 1;
    TRY(state_purge_chunk(run, &is_over, err));
    return is_over ? end_run(run, &sql_index_gone, run->index_id, err) : STATUS_OK;
}

/* Its indexes are dropped by operations of their own. */
static enum status delete_table_chunk(struct run *run, struct error *err)
{
    struct purge purges[] = {
        { run, &sql_purge_entities, run->table_id, -1, 0 },
        { run, &sql_purge_intents, run->table_id, -1, 0 },
        { run, &sql_purge_states, run->table_id, -1, 0 },
        { run, &sql_purge_dead_letters, run->table_id, 0, 0 },
    };
    int64_t gone;

    TRY(purge_some(run, purges, ARRAY_LEN(purges), &gone, err));
    return gone > 0 ? STATUS_OK : end_run(run, &sql_table_gone, run->table_id, err);
}

/* ---- */

static const struct job_kind {
    const char *name;
    enum status (*chunk)(struct run *run, struct error *err);
} kinds[] = {
    { "build", index_build_chunk },
    { "drop_index", drop_index_chunk },
    { "delete_table", delete_table_chunk },
    { "delete_range", range_delete_chunk },
};

static enum status work_on(struct run *run, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_equal(run->kind, str_of(kinds[i].name)))
            return kinds[i].chunk(run, err);
    return error_set(err, STATUS_INTERNAL, "operation %.*s is of an unknown kind, %.*s", STR_ARG(run->id),
        STR_ARG(run->kind));
}

/* A failure that trying again would not mend ends the operation; others leave it as it was. */
static enum status give_back(struct run *run, enum status status, struct error *err)
{
    struct error ignored;
    enum status released;

    if (!pg_is_transient(err) && status != STATUS_MAYBE_DONE) {
        run->state = JOB_FAILED;
        run->error = str_of(err->message);
        return job_work_checkpoint(run, &ignored) == STATUS_OK ? STATUS_OK : status;
    }
    /* If this fails too, the claim runs out by itself. */
    released = worker_attempt(run->store, release, run, &ignored);
    (void)released;
    return status;
}

enum status job_work_run(struct worker *store, bool *worked, struct error *err)
{
    struct run run = { .store = store, .error = STR_EMPTY };
    struct error failure = { 0 };
    enum status status;

    arena_init(&run.arena);
    status = worker_attempt(store, claim, &run, &failure);
    if (status == STATUS_OK && run.id.len > 0) {
        FAILPOINT("operation.after_claim");
        status = work_on(&run, &failure);
        if (status != STATUS_OK)
            status = give_back(&run, status, &failure);
    }
    if (status == STATUS_OK)
        *worked = run.id.len > 0;
    else if (err)
        *err = failure;
    arena_cleanup(&run.arena);
    return status;
}
