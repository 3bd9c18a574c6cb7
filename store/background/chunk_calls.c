/* SPDX-License-Identifier: Apache-2.0 */
/* chunk_calls.c - see the header. */
#include "store/background/chunk_calls.h"

#include "base/chunk_settings.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/reason.h"
#include "store/jobs/job_calls.h"
#include "store/session/attempt.h"
#include "store/sql.h"

/* ---- list ---- */

enum store_column { STORE_NUMBER, STORE_CHUNKS, STORE_BYTES, STORE_STRAYS, STORE_STRAY_BYTES };

static enum status list(struct session *session, struct operation *operation, struct error *err)
{
    struct chunk_store_view *stores = operation->out.chunks.stores;
    const struct chunk_stores *chunks = session->chunks;
    PG_RESULT rows = NULL;

    TRY(pg_query(&session->pg, &sql_chunk_stores, NULL, &rows, err));
    for (int i = 0; i < CHUNK_STORE_KINDS; i++)
        stores[i] = (struct chunk_store_view){ .is_configured =
                                                   i == CHUNK_STORE_POSTGRESQL || (chunks && chunks->of[i]),
            .takes_puts = i == (chunks ? (int)chunks->put_into : CHUNK_STORE_POSTGRESQL) };
    for (int i = 0; i < PQntuples(rows); i++) {
        int number = pg_int2(rows, i, STORE_NUMBER);

        if (number < 0 || number >= CHUNK_STORE_KINDS)
            continue; /* of a later version */
        stores[number].chunks = pg_int8(rows, i, STORE_CHUNKS);
        stores[number].bytes = pg_int8(rows, i, STORE_BYTES);
        stores[number].strays = pg_int8(rows, i, STORE_STRAYS);
        stores[number].stray_bytes = pg_int8(rows, i, STORE_STRAY_BYTES);
    }
    return STATUS_OK;
}

void chunk_calls_list(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list);
}

/* ---- move ---- */

enum start_column { START_KNOWN_BY_ALL, START_BEGUN };
enum open_column { OPEN_ACCOUNT, OPEN_JOB };

static enum status check_target(
    const struct session *session, enum chunk_store_kind target, struct error *err)
{
    if (!session->chunks)
        return reason_set(err, REASON_CHUNK_MOVE_REFUSED,
            "this server is configured with no store of chunks beside the database: set "
            "TAVOLA_BLOB_DIRECTORY or TAVOLA_BLOB_S3_URL on all servers and workers");
    if (target != CHUNK_STORE_POSTGRESQL && !session->chunks->of[target])
        return reason_set(err, REASON_CHUNK_MOVE_REFUSED,
            "this server is not configured with the store \"%s\": set it on all servers and workers",
            chunk_settings_stores[target]);
    return STATUS_OK;
}

/* A move has not ended. The same account's to the same target is the answer, so a repeated request does no harm. */
static enum status answer_open(struct session *session, struct operation *operation, struct error *err)
{
    struct str target = str_of(chunk_settings_stores[operation->in.chunks.target]);
    struct job_view *job = ARENA_NEW(operation->arena, struct job_view);
    PG_RESULT rows = NULL;

    pg_recover(&session->pg); /* rolls back */
    TRY(pg_query(&session->pg, &sql_chunk_move_open, NULL, &rows, err));
    if (PQntuples(rows) == 0)
        return error_set(err, STATUS_UNAVAILABLE, "a move of chunks has just ended"); /* tried again */
    *job = job_calls_read_row(rows, 0, OPEN_JOB, operation->arena);
    if (!str_equal(pg_bytes(rows, 0, OPEN_ACCOUNT), operation->account) || !str_equal(job->target, target))
        return reason_set(err, REASON_CHUNK_MOVE_REFUSED,
            "operation %.*s, which moves chunks to \"%.*s\", has not ended", STR_ARG(job->operation_id),
            STR_ARG(job->target));
    operation->out.jobs = (struct outcome_jobs){ .jobs = job, .count = 1 };
    return STATUS_OK;
}

static enum status send_start(
    struct session *session, const struct job_start *start, PGresult **rows, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, start->operation_id);
    pg_add_bytes(&params, start->account);
    pg_add_bytes(&params, start->target);
    pg_add_int8(&params, start->started);
    return session_begin_statement(session, &sql_chunk_move_start, &params, rows, err);
}

static enum status begin_move(struct session *session, struct operation *operation, struct error *err)
{
    struct job_start start = { .account = operation->account,
        .kind = "move_chunks",
        .target = str_of(chunk_settings_stores[operation->in.chunks.target]),
        .started = clock_ticks() };
    PG_RESULT rows = NULL;
    int64_t id;

    TRY(check_target(session, operation->in.chunks.target, err));
    TRY(job_calls_admit(session, operation->account, &id, err));
    start.operation_id = job_calls_id("move", id, operation->arena);
    TRY(send_start(session, &start, &rows, err));
    if (!pg_bool(rows, 0, START_KNOWN_BY_ALL))
        return reason_set(err, REASON_CHUNK_MOVE_REFUSED,
            "programs of older versions, which do not know of moves, may still run: see tavola migrate "
            "--refuse-older");
    if (!pg_bool(rows, 0, START_BEGUN))
        return answer_open(session, operation, err);
    FAILPOINT_TRY("chunk_move.before_begin", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("chunk_move.after_begin");
    operation->out.jobs =
        (struct outcome_jobs){ .jobs = ARENA_NEW(operation->arena, struct job_view), .count = 1 };
    operation->out.jobs.jobs[0] = job_calls_view(&start);
    return STATUS_OK;
}

void chunk_calls_move(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, begin_move);
}
