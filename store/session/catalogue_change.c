/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_change.c - see the header.
 */
#include "store/session/catalogue_change.h"

#include "base/failpoint.h"
#include "store/session/fence.h"
#include "store/sql.h"

enum status catalogue_change_begin(struct session *session, struct error *err)
{
    PG_RESULT version = NULL;

    TRY(fence_close(session, err));
    /* Tables are created without the fence: the row's lock keeps them out. */
    TRY(pg_query(&session->pg, &sql_catalogue_lock, NULL, &version, err));
    if (pg_int8(version, 0, PG_ONLY_COLUMN) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    return STATUS_OK;
}

enum status catalogue_change_commit(struct session *session, struct error *err)
{
    TRY(pg_send(&session->pg, &sql_catalogue_bump, NULL, err));
    FAILPOINT_TRY("catalogue.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("catalogue.after_commit");
    return STATUS_OK;
}
