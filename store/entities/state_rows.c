/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rows.c - see the header.
 *
 * A missing row is inserted after the plan, when its content is known. Meanwhile a worker may
 * insert the same row and read the entity as it was before the write. Then the write's insert
 * fails, and the write begins anew with the row that the worker has inserted.
 * tests/spin/strong_state.pml models both.
 */
#include "store/entities/state_rows.h"

#include "domain/writes/strong_entries.h"
#include "store/session/row_arrays.h"
#include "store/sql.h"

/* ---- locking ---- */

enum status state_rows_send_hold(struct session *session, const struct write_set *set, struct error *err)
{
    struct key_arrays keys;
    struct pg_params params;

    if (!set->has_states)
        return STATUS_OK;
    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < set->row_count; i++)
        if (set->rows[i].state)
            key_arrays_put(&keys, set->rows[i].table->table_id, &set->rows[i].key, set->rows[i].bucket);
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    return pg_send(&session->pg, &sql_state_hold, &params, err);
}

enum state_column { STATE_N, STATE_APPLIED, STATE_MANIFEST, STATE_CTID };

static enum status take_state(
    struct write_set *set, size_t at, const PGresult *held, int row, struct arena *arena, struct error *err)
{
    struct plan_row *of = &set->rows[at];
    struct str manifest = arena_copy(arena, pg_bytes(held, row, STATE_MANIFEST));

    if (!manifest_decode(manifest, arena, &of->state->stored))
        return error_set(err, STATUS_INTERNAL,
            "the manifest of an entity of table %.*s cannot be read: repair an index of the table",
            STR_ARG(of->table->name));
    of->state->is_held = true;
    set->state_places[at] = arena_copy(arena, pg_bytes(held, row, STATE_CTID));
    return STATUS_OK;
}

enum status state_rows_take(struct session *session, struct write_set *set, struct error *err)
{
    PG_RESULT held = NULL;
    int64_t n = 0;
    int next = 0;

    if (!set->has_states)
        return STATUS_OK;
    set->state_places = ARENA_ARRAY(&session->arena, struct str, set->row_count);
    TRY(pg_next(&session->pg, &held, err));
    for (size_t i = 0; i < set->row_count && next < PQntuples(held); i++)
        if (set->rows[i].state && ++n == pg_int8(held, next, STATE_N))
            TRY(take_state(set, i, held, next++, &session->arena, err));
    return STATUS_OK;
}

/* ---- writing the plan's result ---- */

static enum status send_made(struct session *session, const struct write_set *set, struct error *err)
{
    struct key_arrays keys;
    struct pg_array versions, manifests;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    pg_array_init(&versions, &session->arena, PG_INT8);
    pg_array_init(&manifests, &session->arena, PG_BYTEA);
    for (size_t i = 0; i < set->row_count; i++) {
        const struct plan_row *row = &set->rows[i];

        if (!row->state || !row->state->is_made)
            continue;
        key_arrays_put(&keys, row->table->table_id, &row->key, row->bucket);
        pg_array_int8(&versions, row->now.version);
        pg_array_bytes(&manifests, manifest_encode(&row->state->planned, &session->arena));
    }
    if (versions.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_array(&params, &versions);
    pg_add_array(&params, &manifests);
    return pg_send(&session->pg, &sql_state_insert, &params, err);
}

static enum status send_changed(struct session *session, const struct write_set *set, struct error *err)
{
    struct manifest_arrays changed;

    manifest_arrays_init(&changed, &session->arena);
    for (size_t i = 0; i < set->row_count; i++) {
        const struct plan_row *row = &set->rows[i];

        if (row->state && row->state->is_changed)
            manifest_arrays_put(&changed, set->state_places[i], row->now.version,
                manifest_encode(&row->state->planned, &session->arena), STR_EMPTY);
    }
    return manifest_arrays_send(&changed, session, err);
}

static enum status send_removed(struct session *session, const struct write_set *set, struct error *err)
{
    struct key_arrays keys;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < set->row_count; i++)
        if (set->rows[i].state && set->rows[i].state->is_removed)
            key_arrays_put(&keys, set->rows[i].table->table_id, &set->rows[i].key, set->rows[i].bucket);
    if (keys.tables.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    return pg_send(&session->pg, &sql_state_delete, &params, err);
}

enum status state_rows_send(struct session *session, const struct write_set *set, struct error *err)
{
    if (!set->has_states)
        return STATUS_OK;
    TRY(send_made(session, set, err));
    TRY(send_changed(session, set, err));
    return send_removed(session, set, err);
}
