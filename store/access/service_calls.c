/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_calls.c - see the header. A change raises the catalogue's version, as a change of an
 * account does, so that every server applies new CORS rules within a second.
 */
#include "store/access/service_calls.h"

#include "store/session/attempt.h"
#include "store/session/catalogue_load.h"
#include "store/sql.h"

static enum status read_row(
    const PGresult *rows, struct arena *arena, struct service_properties *out, struct error *err)
{
    *out = (struct service_properties){ 0 };
    if (PQntuples(rows) == 0 ||
        service_properties_decode(arena_copy(arena, pg_bytes(rows, 0, PG_ONLY_COLUMN)), arena, out))
        return STATUS_OK;
    return error_set(err, STATUS_INTERNAL, "the stored settings of a table service cannot be read");
}

static enum status get(struct session *session, struct operation *operation, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    TRY(pg_query(&session->pg, &sql_service_properties_get, &params, &rows, err));
    return read_row(rows, operation->arena, &operation->out.service.properties, err);
}

void service_calls_get(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, get);
}

/*
 * Begin a transaction and lock the row of the account's settings, which is created if it is
 * missing.
 */
static enum status lock_row(struct session *session, const struct operation *operation,
    struct service_properties *out, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;
    enum status status;
    int64_t now_us;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    TRY(session_send_begin(session, err));
    TRY(pg_send(&session->pg, &sql_service_properties_lock, &params, err));
    TRY(pg_sync(&session->pg, err));
    status = session_take_begin(session, &now_us, err);
    if (status != STATUS_OK && status != STATUS_STALE)
        return status; /* STATUS_STALE is harmless: nothing was planned with the catalogue */
    TRY(pg_next(&session->pg, &rows, err));
    TRY(pg_end(&session->pg, err));
    return read_row(rows, &session->arena, out, err);
}

static enum status set(struct session *session, struct operation *operation, struct error *err)
{
    struct service_properties stored, changed;
    struct pg_params params;

    TRY(lock_row(session, operation, &stored, err));
    changed = service_properties_change(&stored, &operation->in.service.change);
    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, service_properties_encode(&changed, &session->arena));
    TRY(pg_send(&session->pg, &sql_service_properties_set, &params, err));
    TRY(catalogue_load_send_bump(&session->pg, CHANGED_ACCOUNTS, err));
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

void service_calls_set(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, set);
}
