/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_arrays.c - see the header.
 */
#include "store/session/row_arrays.h"

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
