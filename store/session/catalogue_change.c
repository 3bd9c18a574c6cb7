/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_change.c - see the header.
 */
#include "store/session/catalogue_change.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/limits.h"
#include "domain/ticks.h"
#include "store/session/fence.h"
#include "store/sql.h"

enum status catalogue_change_begin(struct session *session, struct error *err)
{
    PG_RESULT version = NULL;

    TRY(fence_close(session, err));
    session->asked_us = clock_monotonic_us();
    /* Tables are created without the fence: the row's lock keeps them out. */
    TRY(pg_query(&session->pg, &sql_catalogue_lock, NULL, &version, err));
    if (pg_int8(version, 0, PG_ONLY_COLUMN) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    return STATUS_OK;
}

enum status catalogue_change_commit(struct session *session, int64_t changed, struct error *err)
{
    TRY(catalogue_load_send_bump(&session->pg, changed, err));
    FAILPOINT_TRY("catalogue.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("catalogue.after_commit");
    return STATUS_OK;
}

/* A signature is stamped by its signer's clock, a deletion by another server's: each may be off by the allowance. */
enum status catalogue_change_send_table_made(struct session *session, int64_t table_id, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, table_id);
    pg_add_int8(&params, 2 * LIMIT_CLOCK_SKEW_S * TICKS_PER_SECOND);
    return pg_send(&session->pg, &sql_table_signatures_from, &params, err);
}
