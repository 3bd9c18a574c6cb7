/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - removes expired entities, dead rows, commit markers, finished transactions, request
 * records, old audit records and apply rates, and the claims of workers that have died.
 *
 * A dead row keeps the version of its key. It may be deleted once every writer knows a floor at
 * that version or above. So the sweep raises the floor through the fence first, and then deletes
 * rows in small transactions (guard G3). If there is no dead row to purge, the catalogue is not
 * changed, and no server has to read it again.
 */
#include "store/background/sweep.h"

#include "base/failpoint.h"
#include "store/background/expire.h"
#include "store/blobs/blob_collect.h"
#include "store/feed/feed_purge.h"
#include "store/session/catalogue_load.h"
#include "store/session/fence.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum { ROUND_ROWS = 20000, CHUNK_ROWS = 1000 };

struct sweep {
    const struct sweep_ages *ages;
    int64_t floor_wanted;
    int64_t candidates;
    const struct embedded *statement; /* of the current chunk */
    int64_t removed;                  /* number of rows that the statement has deleted */
};

/* ---- the floor ---- */

enum dead_column { DEAD_MAX_VERSION, DEAD_COUNT };

static enum status look_for_dead_rows(struct session *session, void *context, struct error *err)
{
    struct sweep *sweep = context;
    struct pg_params params;
    PG_RESULT result = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, sweep->ages->dead_row_s);
    pg_add_int8(&params, ROUND_ROWS);
    TRY(pg_query(&session->pg, &sql_dead_rows, &params, &result, err));
    sweep->floor_wanted = pg_int8(result, 0, DEAD_MAX_VERSION);
    sweep->candidates = pg_int8(result, 0, DEAD_COUNT);
    return STATUS_OK;
}

/*
 * If the answer is lost, a second attempt changes nothing, because the floor is already high
 * enough.
 */
static enum status raise_floor(struct session *session, void *context, struct error *err)
{
    struct sweep *sweep = context;
    struct pg_params params;
    PG_RESULT result = NULL;

    TRY(session_refresh(session, NULL, err));
    if (session->catalogue->floor >= sweep->floor_wanted)
        return STATUS_OK;
    TRY(fence_close(session, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, sweep->floor_wanted);
    TRY(pg_query(&session->pg, &sql_catalogue_raise_floor, &params, &result, err));
    FAILPOINT_TRY("sweep.before_floor", err);
    TRY(catalogue_load_commit_change(&session->pg, err));
    FAILPOINT("sweep.after_floor");
    return session_reload(session, err);
}

/* ---- chunks ---- */

static void chunk_params(struct session *session, const struct sweep *sweep, struct pg_params *params)
{
    pg_params_init(params, &session->arena);
    if (sweep->statement == &sql_dead_purge) {
        pg_add_int8(params, sweep->ages->dead_row_s);
        /*
         * This floor is in force for every writer: the transaction has checked that its catalogue
         * is the current one.
         */
        pg_add_int8(params, session->catalogue->floor);
    } else if (sweep->statement == &sql_transaction_sweep) {
        pg_add_int8(params, sweep->ages->transaction_s);
    } else if (sweep->statement == &sql_request_sweep) {
        pg_add_int8(params, sweep->ages->request_s);
    } else if (sweep->statement == &sql_audit_sweep) {
        pg_add_int8(params, sweep->ages->audit_s);
    }
    pg_add_int8(params, CHUNK_ROWS);
}

static enum status remove_chunk(struct session *session, void *context, struct error *err)
{
    struct sweep *sweep = context;
    struct pg_params params;
    PG_RESULT result = NULL;
    int64_t now_us = 0;

    chunk_params(session, sweep, &params);
    TRY(session_send_begin(session, err));
    TRY(pg_send(&session->pg, sweep->statement, &params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(session_take_begin(session, &now_us, err));
    TRY(pg_next(&session->pg, &result, err));
    TRY(pg_end(&session->pg, err));
    sweep->removed = PQntuples(result);
    if (sweep->removed == 0) {
        pg_recover(&session->pg);
        return STATUS_OK;
    }
    FAILPOINT_TRY("sweep.before_commit", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

/* Delete chunk after chunk, up to the number of rows allowed in one round. */
static enum status remove_all(struct worker *store, struct sweep *sweep, const struct embedded *statement,
    int64_t *count, bool *more, struct error *err)
{
    int64_t total = 0;

    sweep->statement = statement;
    do {
        TRY(worker_attempt(store, remove_chunk, sweep, err));
        total += sweep->removed;
        *count += sweep->removed;
    } while (sweep->removed == CHUNK_ROWS && total < ROUND_ROWS);
    if (sweep->removed == CHUNK_ROWS)
        *more = true;
    return STATUS_OK;
}

static enum status expire_all(
    struct worker *store, struct sweep_counts *counts, bool *more, struct error *err)
{
    int64_t total = 0, count;

    do {
        TRY(expire_chunk(store, &count, err));
        total += count;
    } while (count == EXPIRE_CHUNK && total < ROUND_ROWS);
    counts->expired += total;
    *more = *more || count == EXPIRE_CHUNK;
    return STATUS_OK;
}

static enum status collect_blobs(struct worker *store, const struct sweep_ages *ages,
    struct sweep_counts *counts, bool *more, struct error *err)
{
    struct blob_counts blobs = { 0 };
    enum status status = blob_collect_round(store, ages->chunk_s, &blobs, more, err);

    counts->blob_parts += blobs.parts;
    counts->blob_chunks += blobs.chunks;
    return status;
}

enum status sweep_run(struct worker *store, const struct sweep_ages *ages, struct sweep_counts *counts,
    bool *more, struct error *err)
{
    struct sweep sweep = { .ages = ages };

    *more = false;
    TRY(expire_all(store, counts, more, err));
    TRY(worker_attempt(store, look_for_dead_rows, &sweep, err));
    if (sweep.candidates > 0) {
        TRY(worker_attempt(store, raise_floor, &sweep, err));
        TRY(remove_all(store, &sweep, &sql_dead_purge, &counts->dead_rows, more, err));
    }
    TRY(collect_blobs(store, ages, counts, more, err));
    TRY(remove_all(store, &sweep, &sql_marker_sweep, &counts->markers, more, err));
    TRY(remove_all(store, &sweep, &sql_request_sweep, &counts->requests, more, err));
    TRY(feed_purge_round(store, ages->change_s, &counts->changes, more, err));
    TRY(remove_all(store, &sweep, &sql_audit_sweep, &counts->audits, more, err));
    TRY(remove_all(store, &sweep, &sql_apply_rates_sweep, &counts->rates, more, err));
    TRY(remove_all(store, &sweep, &sql_claim_sweep, &counts->claims, more, err));
    TRY(remove_all(store, &sweep, &sql_catalogue_changes_sweep, &counts->versions, more, err));
    return remove_all(store, &sweep, &sql_transaction_sweep, &counts->transactions, more, err);
}
