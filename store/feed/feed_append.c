/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_append.c - see the header. Transactions with changes of one feed run side by side: each
 * announces, before it draws numbers, from which number on it draws, and readers stop below the numbers
 * of open transactions (feed_bound.h). Without that a slow transaction would draw its numbers early and
 * commit late, behind the position of readers that have already gone on.
 */
#include "store/feed/feed_append.h"

#include "store/session/session.h"
#include "store/sql.h"

struct change_arrays {
    struct pg_array feeds, kinds, partitions, rows, versions, ts, expires, properties;
};

static void init(struct change_arrays *arrays, struct arena *arena)
{
    pg_array_init(&arrays->feeds, arena, PG_INT8);
    pg_array_init(&arrays->kinds, arena, PG_INT2);
    pg_array_init(&arrays->partitions, arena, PG_TEXT);
    pg_array_init(&arrays->rows, arena, PG_TEXT);
    pg_array_init(&arrays->versions, arena, PG_INT8);
    pg_array_init(&arrays->ts, arena, PG_INT8);
    pg_array_init(&arrays->expires, arena, PG_INT8);
    pg_array_init(&arrays->properties, arena, PG_BYTEA);
}

static void put_change(struct change_arrays *arrays, const struct plan_row *row, enum feed_change_kind kind)
{
    const struct row_state *now = &row->now;
    bool is_left_out = write_plan_leaves_out(row);

    pg_array_int8(&arrays->feeds, row->table->feed_id);
    pg_array_int2(&arrays->kinds, (int16_t)(is_left_out ? kind + CHANGE_LEFT_OUT : kind));
    pg_array_bytes(&arrays->partitions, row->key.partition);
    pg_array_bytes(&arrays->rows, row->key.row);
    pg_array_int8(&arrays->versions, now->version);
    pg_array_int8(&arrays->ts, now->ts);
    pg_array_int8(&arrays->expires, now->live ? now->expires : 0);
    pg_array_bytes(&arrays->properties, now->live && !is_left_out ? now->properties.bytes : STR_EMPTY);
}

static void add_arrays(struct change_arrays *arrays, struct pg_params *params)
{
    struct pg_array *all[] = { &arrays->feeds, &arrays->kinds, &arrays->partitions, &arrays->rows,
        &arrays->versions, &arrays->ts, &arrays->expires, &arrays->properties };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        pg_add_array(params, all[i]);
}

enum status feed_append_send(
    struct session *session, const struct plan_row *rows, size_t count, struct error *err)
{
    struct change_arrays changes;
    struct pg_array feeds;
    struct pg_params params;
    int64_t last_feed = 0;

    init(&changes, &session->arena);
    pg_array_init(&feeds, &session->arena, PG_INT8);
    for (size_t i = 0; i < count; i++) {
        const struct plan_row *row = &rows[i];
        enum feed_change_kind kind = row->table->feed_id ? write_plan_change(row) : CHANGE_NONE;

        if (kind == CHANGE_NONE)
            continue;
        put_change(&changes, row, kind);
        if (row->table->feed_id != last_feed)
            pg_array_int8(&feeds, row->table->feed_id);
        last_feed = row->table->feed_id;
    }
    if (!last_feed)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &feeds);
    TRY(pg_send(&session->pg, &sql_feed_lock, &params, err));
    pg_params_init(&params, &session->arena);
    add_arrays(&changes, &params);
    return pg_send(&session->pg, &sql_change_insert, &params, err);
}
