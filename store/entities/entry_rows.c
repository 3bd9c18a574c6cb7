/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_rows.c - see the header.
 */
#include "store/entities/entry_rows.h"

#include "store/session/row_arrays.h"
#include "store/sql.h"

static void put_state(struct state_arrays *states, const struct entry_change *change)
{
    struct row_state state = { .live = true,
        .version = change->source->version,
        .ts = change->source->ts,
        .properties = change->entry.properties,
        .expires = change->source->expires };

    state_arrays_put(states, &state);
}

enum status entry_rows_send(struct session *session, enum entry_work work, const struct entry_change *changes,
    size_t count, struct error *err)
{
    static const struct embedded *const sql[ENTRY_WORK_COUNT] = { [ENTRY_INSERT] = &sql_entry_insert,
        [ENTRY_UPSERT] = &sql_entry_upsert,
        [ENTRY_DELETE_AT] = &sql_entry_remove_at,
        [ENTRY_DELETE] = &sql_entity_remove };
    bool writes = work == ENTRY_INSERT || work == ENTRY_UPSERT;
    struct key_arrays keys;
    struct state_arrays states;
    struct pg_array ctids;
    struct pg_params params;

    if (count == 0)
        return STATUS_OK;
    key_arrays_init(&keys, &session->arena);
    state_arrays_init(&states, &session->arena);
    pg_array_init(&ctids, &session->arena, PG_TID);
    for (size_t i = 0; i < count; i++) {
        const struct index_entry *entry = &changes[i].entry;

        key_arrays_put(&keys, entry->index_id, &entry->key, entry->bucket);
        if (writes)
            put_state(&states, &changes[i]);
        if (work == ENTRY_DELETE_AT)
            pg_array_bytes(&ctids, row_ctid_bytes(changes[i].ctid));
    }
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    if (writes)
        state_arrays_add(&states, &params);
    if (work == ENTRY_DELETE_AT)
        pg_add_array(&params, &ctids);
    return pg_send(&session->pg, sql[work], &params, err);
}

static void set_ctids(struct entry_change *changes, const PGresult *written)
{
    for (int i = 0; i < PQntuples(written); i++)
        if (changes[i].ctid)
            *changes[i].ctid = row_ctid_of(pg_bytes(written, i, PG_ONLY_COLUMN));
}

/* The rows of the result may be in any order. */
static size_t keep_missed(struct entry_change *changes, size_t count, const PGresult *deleted)
{
    size_t missed = 0;

    for (int i = 0; i < PQntuples(deleted); i++)
        changes[pg_int8(deleted, i, PG_ONLY_COLUMN) - 1].ctid = NULL;
    for (size_t i = 0; i < count; i++)
        if (changes[i].ctid)
            changes[missed++] = changes[i];
    return missed;
}

enum status entry_rows_take(struct session *session, enum entry_work work, struct entry_change *changes,
    size_t *count, struct error *err)
{
    PG_RESULT rows = NULL;

    if (*count == 0)
        return STATUS_OK;
    TRY(pg_next(&session->pg, &rows, err));
    if (work == ENTRY_DELETE_AT)
        *count = keep_missed(changes, *count, rows);
    else
        set_ctids(changes, rows);
    return STATUS_OK;
}
