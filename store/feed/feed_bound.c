/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_bound.c - see the header. The last number is read before the open transactions: one that
 * draws in between draws a larger number, and one that has ended by then is visible to later snapshots.
 */
#include "store/feed/feed_bound.h"

#include "store/sql.h"

enum status feed_bound_send(struct session *session, int64_t feed_id, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    TRY(pg_send(&session->pg, &sql_feed_drawn, &params, err));
    pg_add_int8(&params, feed_id);
    return pg_send(&session->pg, &sql_feed_writers, &params, err);
}

enum status feed_bound_take(struct session *session, int64_t *bound, struct error *err)
{
    PG_RESULT drawn = NULL;
    PG_RESULT writers = NULL;
    int64_t begun;

    TRY(pg_next(&session->pg, &drawn, err));
    TRY(pg_next(&session->pg, &writers, err));
    *bound = pg_int8(drawn, 0, PG_ONLY_COLUMN);
    if (PQgetisnull(writers, 0, PG_ONLY_COLUMN))
        return STATUS_OK;
    begun = pg_int8(writers, 0, PG_ONLY_COLUMN);
    if (begun < *bound)
        *bound = begun;
    return STATUS_OK;
}
