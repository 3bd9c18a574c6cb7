/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_purge.c - see the header. Feeds are purged one at a time, in chunks of one commit each. A
 * commit deletes changes and raises the floor above them. A change with a number below the floor would
 * never be told, so nothing is removed above the bound of feed_bound.h.
 */
#include "store/feed/feed_purge.h"

#include "base/failpoint.h"
#include "store/feed/feed_bound.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum { CHUNK_ROWS = 1000, ROUND_ROWS = 20000, EVERYTHING = -1 };

struct purge {
    int64_t age_s;
    int64_t feed_id; /* the current feed; 0: none yet */
    bool is_over;    /* no table keeps the feed any more */
    bool found;
    int64_t removed; /* rows deleted by the last chunk */
};

enum due_column { DUE_FEED, DUE_IS_OVER };

static enum status find_due(struct session *session, void *context, struct error *err)
{
    struct purge *purge = context;
    struct pg_params params;
    PG_RESULT due = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, purge->age_s);
    pg_add_int8(&params, purge->feed_id);
    TRY(pg_query(&session->pg, &sql_feed_due, &params, &due, err));
    purge->found = PQntuples(due) > 0;
    if (purge->found) {
        purge->feed_id = pg_int8(due, 0, DUE_FEED);
        purge->is_over = pg_bool(due, 0, DUE_IS_OVER);
    }
    return STATUS_OK;
}

static enum status remove_chunk(struct session *session, void *context, struct error *err)
{
    struct purge *purge = context;
    struct pg_params params;
    PG_RESULT result = NULL;
    int64_t now_us = 0, bound;

    TRY(feed_bound_send(session, purge->feed_id, err));
    TRY(pg_sync(&session->pg, err));
    TRY(feed_bound_take(session, &bound, err));
    TRY(pg_end(&session->pg, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, purge->feed_id);
    pg_add_int8(&params, purge->is_over ? EVERYTHING : purge->age_s);
    pg_add_int8(&params, CHUNK_ROWS);
    pg_add_int8(&params, bound);
    TRY(session_send_begin(session, err));
    TRY(pg_send(&session->pg, &sql_change_purge, &params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(session_take_begin(session, &now_us, err));
    TRY(pg_next(&session->pg, &result, err));
    TRY(pg_end(&session->pg, err));
    purge->removed = pg_int8(result, 0, PG_ONLY_COLUMN);
    FAILPOINT_TRY("feed.purge_before_commit", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

static enum status remove_feed(struct session *session, void *context, struct error *err)
{
    struct purge *purge = context;
    struct pg_params params;
    PG_RESULT result = NULL;

    FAILPOINT_TRY("feed.delete", err);
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, purge->feed_id);
    return pg_query(&session->pg, &sql_feed_delete, &params, &result, err);
}

enum status feed_purge_round(
    struct worker *store, int64_t age_s, int64_t *count, bool *more, struct error *err)
{
    struct purge purge = { .age_s = age_s };
    int64_t total = 0;

    TRY(worker_attempt(store, find_due, &purge, err));
    while (purge.found && total < ROUND_ROWS) {
        TRY(worker_attempt(store, remove_chunk, &purge, err));
        *count += purge.removed;
        total += purge.removed;
        if (purge.removed == CHUNK_ROWS)
            continue;
        if (purge.is_over)
            TRY(worker_attempt(store, remove_feed, &purge, err));
        TRY(worker_attempt(store, find_due, &purge, err));
    }
    *more = *more || purge.found;
    return STATUS_OK;
}
