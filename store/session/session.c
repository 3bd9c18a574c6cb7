/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - see the header.
 */
#include "store/session/session.h"

#include "base/clock.h"
#include "domain/reason.h"
#include "store/connection/stalled_sessions.h"
#include "store/session/audit_row.h"
#include "store/session/catalogue_load.h"
#include "store/session/shared_catalogue.h"
#include "store/sql.h"

enum {
    RESOLVE_LIMIT_US = 10000000,
    RESOLVE_PAUSE_US = 50000,
    FENCE_LIMIT_US = 10000000,
    MARKERS_KEPT = 64, /* of one connection, at most, while it commits */
};

void session_init(struct session *session, const char *conninfo, const char *role)
{
    *session = (struct session){ 0 };
    session->resolve_limit_us = RESOLVE_LIMIT_US;
    session->fence_limit_us = FENCE_LIMIT_US;
    session->stalled_ms = STALLED_MS;
    pg_init(&session->pg, conninfo, role);
    arena_init(&session->arena);
}

void session_cleanup(struct session *session)
{
    catalogue_release(session->catalogue);
    session->catalogue = NULL;
    pg_close(&session->pg);
    arena_cleanup(&session->arena);
}

void session_asks_version(struct session *session)
{
    session->asked_us = session_in_snapshot(session) ? session->snapshot_us : clock_monotonic_us();
}

void session_note_confirmed(struct session *session)
{
    if (session->asked_us > session->confirmed_us)
        session->confirmed_us = session->asked_us;
}

/* Make the session's catalogue one that the database had at since_us or later. */
static enum status read_catalogue(struct session *session, int64_t since_us, struct error *err)
{
    struct catalogue_reading reading = { .asked_us = clock_monotonic_us() };

    if (session->shared_catalogue)
        TRY(shared_catalogue_get(
            session->shared_catalogue, &session->pg, session->catalogue, since_us, &reading, err));
    else
        TRY(catalogue_load(&session->pg, session->catalogue, &reading.catalogue, err));
    catalogue_release(session->catalogue);
    session->catalogue = reading.catalogue;
    session->asked_us = reading.asked_us;
    session_note_confirmed(session);
    return STATUS_OK;
}

enum status session_reload(struct session *session, struct error *err)
{
    return read_catalogue(session, SHARED_CATALOGUE_OWN, err);
}

enum status session_catch_up(struct session *session, struct error *err)
{
    return read_catalogue(session, session->asked_us, err);
}

static enum status compare_version(struct session *session, bool *differs, struct error *err)
{
    PG_RESULT result = NULL;

    session_asks_version(session);
    TRY(pg_query(&session->pg, &sql_catalogue_version, NULL, &result, err));
    *differs = pg_int8(result, 0, PG_ONLY_COLUMN) != session->catalogue->version;
    if (!*differs)
        session_note_confirmed(session);
    return STATUS_OK;
}

enum status session_confirm(struct session *session, int64_t since_us, struct error *err)
{
    bool differs;

    if (since_us > 0 && session->confirmed_us > since_us)
        return STATUS_OK;
    TRY(compare_version(session, &differs, err));
    return differs ? error_set(err, STATUS_STALE, "the catalogue has changed") : STATUS_OK;
}

enum status session_refresh(struct session *session, bool *changed, struct error *err)
{
    bool differs;

    TRY(compare_version(session, &differs, err));
    if (differs)
        TRY(session_catch_up(session, err));
    if (changed)
        *changed = differs;
    return STATUS_OK;
}

/* ---- snapshots ---- */

enum status session_send_begin_snapshot(struct session *session, struct error *err)
{
    session->snapshot_us = clock_monotonic_us();
    return pg_send(&session->pg, &sql_begin_snapshot, NULL, err);
}

enum status session_begin_snapshot(struct session *session, struct error *err)
{
    TRY(session_send_begin_snapshot(session, err));
    TRY(pg_sync(&session->pg, err));
    return pg_end(&session->pg, err);
}

bool session_in_snapshot(const struct session *session)
{
    return pg_in_transaction(&session->pg);
}

enum status session_send_end_snapshot(struct session *session, struct error *err)
{
    return pg_send(&session->pg, &sql_rollback, NULL, err);
}

enum status session_end_snapshot(struct session *session, struct error *err)
{
    PG_RESULT ended = NULL;

    if (!session_in_snapshot(session))
        return STATUS_OK;
    return pg_query(&session->pg, &sql_rollback, NULL, &ended, err);
}

/* ---- transactions that write ---- */

enum status session_send_begin(struct session *session, struct error *err)
{
    session_asks_version(session);
    TRY(pg_send(&session->pg, &sql_begin, NULL, err));
    TRY(pg_send(&session->pg, &sql_fence, NULL, err));
    return pg_send(&session->pg, &sql_catalogue_check, NULL, err);
}

enum status session_take_begin(struct session *session, int64_t *now_us, struct error *err)
{
    PG_RESULT result = NULL;

    TRY(pg_done(&session->pg, err));
    TRY(pg_done(&session->pg, err));
    TRY(pg_next(&session->pg, &result, err));
    *now_us = pg_int8(result, 0, CHECK_NOW_US);
    if (pg_int8(result, 0, CHECK_VERSION) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    session_note_confirmed(session);
    return STATUS_OK;
}

enum status session_begin(struct session *session, int64_t *now_us, struct error *err)
{
    TRY(session_send_begin(session, err));
    TRY(pg_sync(&session->pg, err));
    TRY(session_take_begin(session, now_us, err));
    return pg_end(&session->pg, err);
}

/* ---- commit ---- */

/*
 * Old markers are deleted by every MARKERS_KEPT-th transaction of the connection, because a search for them costs
 * the database as much as the deletion of many. The search begins behind those that were deleted before: it would
 * meet their dead rows until the next vacuum.
 */
static bool deletes_markers(const struct session *session)
{
    return session->marker_number % MARKERS_KEPT == 0;
}

/* version: NULL, or the version that the catalogue must have for a marker to be inserted. */
static enum status send_markers(struct session *session, const int64_t *version, struct error *err)
{
    struct pg_params older, own;

    pg_params_init(&own, &session->arena);
    pg_add_int8(&own, session->connection_id);
    pg_add_int8(&own, session->marker_number);
    older = own;
    pg_add_int8(&older, session->markers_from);
    if (version)
        pg_add_int8(&own, *version);
    else
        pg_add_null(&own);
    TRY(pg_send(&session->pg, &sql_marker_insert, &own, err));
    return deletes_markers(session) ? pg_send(&session->pg, &sql_marker_delete, &older, err) : STATUS_OK;
}

/*
 * COMMIT is in the flight of the statements before it: if one of them fails, the database skips it. A second sync
 * before it would cost both sides a packet.
 */
static enum status send_commit(struct session *session, const int64_t *version, struct error *err)
{
    session->marker_number++;
    TRY(send_markers(session, version, err));
    /*
     * After a failure from here on the connection is closed, and the server may have received
     * COMMIT.
     */
    if (pg_send(&session->pg, &sql_commit, NULL, NULL) != STATUS_OK ||
        pg_sync(&session->pg, NULL) != STATUS_OK)
        pg_close(&session->pg);
    return STATUS_OK;
}

static enum status send_audit(struct session *session, struct error *err)
{
    struct audit_record *record = session->audit;

    if (!record || !record->is_due)
        return STATUS_OK;
    TRY(audit_row_send(&session->pg, record, &session->arena, err));
    record->is_due = false;
    record->is_sent = true;
    return STATUS_OK;
}

enum status session_send_commit(struct session *session, struct error *err)
{
    TRY(send_audit(session, err));
    return send_commit(session, NULL, err);
}

enum status session_begin_statement(struct session *session, const struct embedded *sql,
    const struct pg_params *params, PGresult **rows, struct error *err)
{
    enum status status;
    int64_t now_us;

    TRY(session_send_begin(session, err));
    TRY(pg_send(&session->pg, sql, params, err));
    TRY(pg_sync(&session->pg, err));
    status = session_take_begin(session, &now_us, err);
    if (status != STATUS_OK && status != STATUS_STALE)
        return status;
    TRY(pg_next(&session->pg, rows, err));
    return pg_end(&session->pg, err);
}

enum status session_send_guarded_commit(struct session *session, struct error *err)
{
    return send_commit(session, &session->catalogue->version, err);
}

enum status session_ask(struct session *session, session_question *question, void *context, struct error *err)
{
    int64_t deadline_us = clock_monotonic_us() + session->resolve_limit_us;
    enum status status;

    for (;;) {
        status = pg_ensure(&session->pg, err);
        if (status == STATUS_OK)
            status = question(session, context, err);
        if (status == STATUS_OK)
            return STATUS_OK;
        pg_recover(&session->pg);
        if (clock_monotonic_us() >= deadline_us)
            return status;
        clock_sleep(RESOLVE_PAUSE_US);
    }
}

/*
 * The question whether the transaction whose answer was lost has committed, which its marker
 * decides.
 */
struct lost_commit {
    int64_t connection_id, number; /* of the marker */
    bool committed;
};

/*
 * Guard G6: try to insert the lost transaction's own marker, together with a second row. The second
 * row exists exactly if the marker was inserted, that is, if the transaction has not committed; so
 * the question can be asked again if its answer is lost too.
 */
static enum status ask_marker(struct session *session, void *context, struct error *err)
{
    struct lost_commit *lost = context;
    struct pg_params params;
    PG_RESULT note = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, lost->connection_id);
    pg_add_int8(&params, lost->number);
    TRY(pg_send(&session->pg, &sql_marker_resolve, &params, err));
    TRY(pg_send(&session->pg, &sql_marker_resolved, &params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_done(&session->pg, err));
    TRY(pg_next(&session->pg, &note, err));
    TRY(pg_end(&session->pg, err));
    lost->committed = PQntuples(note) == 0;
    return STATUS_OK;
}

static enum status resolve(struct session *session, struct lost_commit *lost, struct error *err)
{
    struct error last = { 0 };

    if (session_ask(session, ask_marker, lost, &last) == STATUS_OK)
        return STATUS_OK;
    reason_set(err, REASON_OUTCOME_UNKNOWN,
        "the database was lost during the commit, and it could not be found out whether the write happened");
    error_set_detail(err, last.message);
    error_add_meta(err, "retry", STR_LITERAL("read-then-retry"));
    return STATUS_MAYBE_DONE;
}

enum status session_take_answer(struct session *session, struct error *err)
{
    bool committed = false;

    if (pg_end_commit(&session->pg, &committed, err) == STATUS_OK && !committed)
        error_set(err, STATUS_INTERNAL, "the database rolled the transaction back");
    if (!committed)
        return err->status;
    if (deletes_markers(session))
        session->markers_from = session->marker_number;
    return STATUS_OK;
}

enum status session_settle_commit(struct session *session, const struct error *failure, struct error *err)
{
    struct lost_commit lost = { .connection_id = session->connection_id, .number = session->marker_number };

    if (pg_is_open(&session->pg)) {
        pg_recover(&session->pg);
    } else { /* the server may have received COMMIT */
        TRY(resolve(session, &lost, err));
        if (lost.committed)
            return STATUS_OK;
    }
    *err = *failure;
    return failure->status;
}

enum status session_take_commit(struct session *session, struct error *err)
{
    struct error failure = { 0 };

    if (session_take_answer(session, &failure) == STATUS_OK)
        return STATUS_OK;
    return session_settle_commit(session, &failure, err);
}

struct intent_block session_reserve_intents(struct session *session, int64_t now_us, size_t count)
{
    struct intent_block block = { .us = now_us, .origin = session->intent_origin };

    if (count > UINT32_MAX - session->intent_counter)
        session->intent_counter = 0; /* the clock has advanced since the counter was last here */
    block.first = session->intent_counter + 1;
    session->intent_counter += (uint32_t)count;
    block.last = session->intent_counter;
    return block;
}

struct intent_id session_intent_id(struct session *session, int64_t now_us)
{
    struct intent_block block = session_reserve_intents(session, now_us, 1);

    return intent_block_id(&block, block.first);
}
