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
    static const struct embedded *const sql[] = { &sql_entry_insert, &sql_entry_upsert, &sql_entity_remove };
    struct key_arrays keys;
    struct state_arrays states;
    struct pg_params params;

    if (count == 0)
        return STATUS_OK;
    key_arrays_init(&keys, &session->arena);
    state_arrays_init(&states, &session->arena);
    for (size_t i = 0; i < count; i++) {
        const struct index_entry *entry = &changes[i].entry;

        key_arrays_put(&keys, entry->index_id, &entry->key, entry->bucket);
        if (work != ENTRY_DELETE)
            put_state(&states, &changes[i]);
    }
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    if (work != ENTRY_DELETE)
        state_arrays_add(&states, &params);
    return pg_send(&session->pg, sql[work], &params, err);
}
