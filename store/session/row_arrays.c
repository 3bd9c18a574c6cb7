/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_arrays.c - see the header.
 */
#include "store/session/row_arrays.h"

#include "store/sql.h"

void key_arrays_init(struct key_arrays *arrays, struct arena *arena)
{
    pg_array_init(&arrays->tables, arena, PG_INT8);
    pg_array_init(&arrays->partitions, arena, PG_TEXT);
    pg_array_init(&arrays->rows, arena, PG_TEXT);
    pg_array_init(&arrays->buckets, arena, PG_INT2);
}

void key_arrays_put(struct key_arrays *arrays, int64_t table_id, const struct entity_key *key, int16_t bucket)
{
    pg_array_int8(&arrays->tables, table_id);
    pg_array_bytes(&arrays->partitions, key->partition);
    pg_array_bytes(&arrays->rows, key->row);
    pg_array_int2(&arrays->buckets, bucket);
}

void key_arrays_add(struct key_arrays *arrays, struct pg_params *params)
{
    pg_add_array(params, &arrays->tables);
    pg_add_array(params, &arrays->partitions);
    pg_add_array(params, &arrays->rows);
    pg_add_array(params, &arrays->buckets);
}

void name_arrays_init(struct name_arrays *arrays, struct arena *arena)
{
    pg_array_init(&arrays->tables, arena, PG_INT8);
    pg_array_init(&arrays->names, arena, PG_TEXT);
}

void name_arrays_put(struct name_arrays *arrays, int64_t table_id, const struct str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pg_array_int8(&arrays->tables, table_id);
        pg_array_bytes(&arrays->names, names[i]);
    }
}

void name_arrays_add(struct name_arrays *arrays, struct pg_params *params)
{
    pg_add_array(params, &arrays->tables);
    pg_add_array(params, &arrays->names);
}

void state_arrays_init(struct state_arrays *arrays, struct arena *arena)
{
    pg_array_init(&arrays->versions, arena, PG_INT8);
    pg_array_init(&arrays->ts, arena, PG_INT8);
    pg_array_init(&arrays->dead, arena, PG_BOOL);
    pg_array_init(&arrays->properties, arena, PG_BYTEA);
    pg_array_init(&arrays->expires, arena, PG_INT8);
}

void state_arrays_put(struct state_arrays *arrays, const struct row_state *state)
{
    pg_array_int8(&arrays->versions, state->version);
    pg_array_int8(&arrays->ts, state->ts);
    pg_array_bool(&arrays->dead, !state->live);
    pg_array_bytes(&arrays->properties, state->live ? state->properties.bytes : STR_EMPTY);
    pg_array_int8(&arrays->expires, state->live ? state->expires : 0);
}

void state_arrays_add(struct state_arrays *arrays, struct pg_params *params)
{
    pg_add_array(params, &arrays->versions);
    pg_add_array(params, &arrays->ts);
    pg_add_array(params, &arrays->dead);
    pg_add_array(params, &arrays->properties);
    pg_add_array(params, &arrays->expires);
}

void manifest_arrays_init(struct manifest_arrays *arrays, struct arena *arena)
{
    pg_array_init(&arrays->ctids, arena, PG_TID);
    pg_array_init(&arrays->applied, arena, PG_INT8);
    pg_array_init(&arrays->manifests, arena, PG_BYTEA);
    pg_array_init(&arrays->entry_ctids, arena, PG_BYTEA);
}

void manifest_arrays_put(struct manifest_arrays *arrays, struct str ctid, int64_t applied,
    struct str manifest, struct str entry_ctids)
{
    pg_array_bytes(&arrays->ctids, ctid);
    pg_array_int8(&arrays->applied, applied);
    pg_array_bytes(&arrays->manifests, manifest);
    pg_array_bytes(&arrays->entry_ctids, entry_ctids);
}

enum status manifest_arrays_send(struct manifest_arrays *arrays, struct session *session, struct error *err)
{
    struct pg_params params;

    if (arrays->ctids.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &arrays->ctids);
    pg_add_array(&params, &arrays->applied);
    pg_add_array(&params, &arrays->manifests);
    pg_add_array(&params, &arrays->entry_ctids);
    return pg_send(&session->pg, &sql_state_update, &params, err);
}
