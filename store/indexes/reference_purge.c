/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_purge.c - see the header. The contents are locked first, as by a write (store/entities/held_blob_rows.h):
 * entities of other tables may hold them too.
 */
#include "store/indexes/reference_purge.h"

#include "domain/limits.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum { PURGE_CONTENTS = 500 };

struct reference_purge {
    int64_t table_id;
    int64_t gone;
};

enum locked_column { LOCKED_ACCOUNT, LOCKED_CONTENT };

static enum status lock_contents(
    struct session *session, int64_t table_id, PGresult **locked, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, table_id);
    pg_add_int8(&params, PURGE_CONTENTS);
    TRY(pg_send(&session->pg, &sql_begin, NULL, err));
    TRY(pg_send(&session->pg, &sql_references_lock, &params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_done(&session->pg, err));
    TRY(pg_next(&session->pg, locked, err));
    return pg_end(&session->pg, err);
}

static enum status send_discard(struct session *session, const PGresult *locked, struct error *err)
{
    struct pg_array accounts, contents;
    struct pg_params params;

    pg_array_init(&accounts, &session->arena, PG_TEXT);
    pg_array_init(&contents, &session->arena, PG_UUID);
    for (int i = 0; i < PQntuples(locked); i++) {
        pg_array_bytes(&accounts, pg_bytes(locked, i, LOCKED_ACCOUNT));
        pg_array_bytes(&contents, pg_bytes(locked, i, LOCKED_CONTENT));
    }
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &accounts);
    pg_add_array(&params, &contents);
    pg_add_int8(&params, LIMIT_BLOB_READ_KEPT_S);
    return pg_send(&session->pg, &sql_held_discard, &params, err);
}

static enum status send_removal(
    struct session *session, int64_t table_id, const PGresult *locked, struct error *err)
{
    struct pg_array contents;
    struct pg_params params;

    pg_array_init(&contents, &session->arena, PG_UUID);
    for (int i = 0; i < PQntuples(locked); i++)
        pg_array_bytes(&contents, pg_bytes(locked, i, LOCKED_CONTENT));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, table_id);
    pg_add_array(&params, &contents);
    return pg_send(&session->pg, &sql_references_remove, &params, err);
}

static enum status purge_some(struct session *session, void *context, struct error *err)
{
    struct reference_purge *purge = context;
    PG_RESULT locked = NULL;

    TRY(lock_contents(session, purge->table_id, &locked, err));
    purge->gone = PQntuples(locked);
    if (purge->gone == 0) {
        pg_recover(&session->pg);
        return STATUS_OK;
    }
    TRY(send_removal(session, purge->table_id, locked, err));
    TRY(send_discard(session, locked, err));
    TRY(pg_send(&session->pg, &sql_commit, NULL, err));
    TRY(pg_sync(&session->pg, err));
    return pg_end(&session->pg, err);
}

enum status reference_purge_some(struct worker *store, int64_t table_id, int64_t *gone, struct error *err)
{
    struct reference_purge purge = { .table_id = table_id };

    TRY(worker_attempt(store, purge_some, &purge, err));
    *gone = purge.gone;
    return STATUS_OK;
}
