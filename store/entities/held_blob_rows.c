/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_blob_rows.c - see the header.
 */
#include "store/entities/held_blob_rows.h"

#include "base/failpoint.h"
#include "domain/limits.h"
#include "domain/writes/held_blobs.h"
#include "store/entities/write_set.h"
#include "store/session/session.h"
#include "store/sql.h"

/* ---- lock ---- */

static void note_all(struct write_set *set)
{
    for (size_t i = 0; i < set->planned_count; i++) {
        const struct planned *planned = &set->planned[i];

        for (size_t k = 0; k < planned->operation->in.write.count; k++)
            if (planned->rows[k]->blobs)
                held_blobs_note(set->blobs, planned->rows[k],
                    planned->operation->in.write.writes[k].properties, (struct property_rest){ 0 });
    }
    for (size_t i = 0; i < set->row_count; i++)
        if (set->rows[i].blobs && set->rows[i].stored.live)
            held_blobs_note(
                set->blobs, &set->rows[i], set->rows[i].stored.properties, set->rows[i].stored.rest);
    held_blobs_sort(set->blobs);
}

enum held_column { HELD_N, HELD_CAN_BE_HELD };

enum status held_blob_rows_lock(struct session *session, struct write_set *set, struct error *err)
{
    struct pg_array accounts, contents;
    struct pg_params params;
    PG_RESULT locked = NULL;

    if (!set->blobs)
        return STATUS_OK;
    note_all(set);
    if (set->blobs->count == 0)
        return STATUS_OK;
    pg_array_init(&accounts, &session->arena, PG_TEXT);
    pg_array_init(&contents, &session->arena, PG_UUID);
    for (size_t i = 0; i < set->blobs->count; i++) {
        pg_array_bytes(&accounts, set->blobs->items[i].account);
        pg_array_bytes(&contents, blob_id_str(&set->blobs->items[i].content));
    }
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &accounts);
    pg_add_array(&params, &contents);
    TRY(pg_query(&session->pg, &sql_held_lock, &params, &locked, err));
    for (int i = 0; i < PQntuples(locked); i++)
        set->blobs->items[pg_int8(locked, i, HELD_N) - 1].can_be_held = pg_bool(locked, i, HELD_CAN_BE_HELD);
    return STATUS_OK;
}

/* ---- changes ---- */

/* Contents and the entities that take them or give them up. */
struct held_arrays {
    struct pg_array accounts, contents, tables, partitions, rows;
};

static void init_arrays(struct held_arrays *arrays, struct arena *arena)
{
    pg_array_init(&arrays->accounts, arena, PG_TEXT);
    pg_array_init(&arrays->contents, arena, PG_UUID);
    pg_array_init(&arrays->tables, arena, PG_INT8);
    pg_array_init(&arrays->partitions, arena, PG_TEXT);
    pg_array_init(&arrays->rows, arena, PG_TEXT);
}

static void put_all(
    struct held_arrays *arrays, const struct plan_row *row, const struct blob_id_list *contents)
{
    for (size_t i = 0; i < contents->count; i++) {
        pg_array_bytes(&arrays->accounts, row->table->account);
        pg_array_bytes(&arrays->contents, blob_id_str(&contents->items[i]));
        pg_array_int8(&arrays->tables, row->table->table_id);
        pg_array_bytes(&arrays->partitions, row->key.partition);
        pg_array_bytes(&arrays->rows, row->key.row);
    }
}

static void add_arrays(struct session *session, struct held_arrays *arrays, struct pg_params *params)
{
    pg_params_init(params, &session->arena);
    pg_add_array(params, &arrays->accounts);
    pg_add_array(params, &arrays->contents);
    pg_add_array(params, &arrays->tables);
    pg_add_array(params, &arrays->partitions);
    pg_add_array(params, &arrays->rows);
}

static enum status send_taken(struct session *session, struct held_arrays *taken, struct error *err)
{
    struct pg_params references, contents;

    if (taken->contents.count == 0)
        return STATUS_OK;
    add_arrays(session, taken, &references);
    TRY(pg_send(&session->pg, &sql_held_insert, &references, err));
    pg_params_init(&contents, &session->arena);
    pg_add_array(&contents, &taken->accounts);
    pg_add_array(&contents, &taken->contents);
    return pg_send(&session->pg, &sql_held_publish, &contents, err);
}

/* Behind what is taken: a content may go from one entity of the batch to another. */
static enum status send_given_up(struct session *session, struct held_arrays *given_up, struct error *err)
{
    struct pg_params references, contents;

    if (given_up->contents.count == 0)
        return STATUS_OK;
    add_arrays(session, given_up, &references);
    TRY(pg_send(&session->pg, &sql_held_delete, &references, err));
    pg_params_init(&contents, &session->arena);
    pg_add_array(&contents, &given_up->accounts);
    pg_add_array(&contents, &given_up->contents);
    pg_add_int8(&contents, LIMIT_BLOB_READ_KEPT_S);
    return pg_send(&session->pg, &sql_held_discard, &contents, err);
}

enum status held_blob_rows_send(struct session *session, const struct write_set *set, struct error *err)
{
    struct held_arrays taken, given_up;

    if (!set->blobs || set->blobs->count == 0)
        return STATUS_OK;
    init_arrays(&taken, &session->arena);
    init_arrays(&given_up, &session->arena);
    for (size_t i = 0; i < set->row_count; i++) {
        struct held_change change;

        if (!set->rows[i].blobs || set->rows[i].now.version == set->rows[i].stored.version)
            continue;
        change = held_blobs_change(&set->rows[i], &session->arena);
        put_all(&taken, &set->rows[i], &change.taken);
        put_all(&given_up, &set->rows[i], &change.given_up);
    }
    FAILPOINT_TRY("held_blobs.before_changes", err);
    TRY(send_taken(session, &taken, err));
    return send_given_up(session, &given_up, err);
}
