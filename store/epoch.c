/*
 * epoch.c - see the header.
 */
#include "store/epoch.h"

#include "store/catalogue_change.h"
#include "store/sql.h"

enum { MOST_ATTEMPTS = 5 };

/* Is the catalogue's timeline the one this database is on? */
static enum status is_same(struct session *session, bool *same, struct error *err)
{
    PG_RESULT result = NULL;

    TRY(pg_query(&session->pg, &sql_epoch_check, NULL, &result, err));
    *same = pg_bool(result, 0, 0);
    return STATUS_OK;
}

static enum status raise_epoch(struct session *session, struct error *err)
{
    TRY(catalogue_change_begin(session, err));
    TRY(pg_send(&session->pg, &sql_epoch_raise, NULL, err));
    return catalogue_change_commit(session, 1, err);
}

enum status epoch_ensure(struct session *session, struct error *err)
{
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
        enum status status;
        bool same = false;

        TRY(is_same(session, &same, err));
        if (same)
            return STATUS_OK;
        status = raise_epoch(session, err);
        if (status != STATUS_OK)
            pg_recover(&session->pg);
        /* Stale: somebody else changes the catalogue, perhaps for the same reason. */
        if (status != STATUS_OK && status != STATUS_STALE)
            return status;
        TRY(session_reload(session, err));
    }
    return error_set(err, STATUS_UNAVAILABLE, "the catalogue keeps changing");
}
