/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_work.c - what workers read and write about queues: controls, permits of queues with a rate
 * limit, and the numbers of applied intents.
 */
#include "store/intents/queue_work.h"

#include "store/session/worker_attempt.h"
#include "store/sql.h"

/* ---- controls ---- */

struct controls {
    struct queue_map map;
    struct queue_control *out;
    bool any;
};

enum control_column {
    CONTROL_MAP_VERSION,
    CONTROL_MAP_QUEUES,
    CONTROL_QUEUE,
    CONTROL_KIND,
    CONTROL_INTENTS_BEFORE_US,
    CONTROL_RATE,
};

static enum status read_controls(struct session *session, void *context, struct error *err)
{
    struct controls *controls = context;
    PG_RESULT rows = NULL;

    TRY(pg_query(&session->pg, &sql_queue_controls, NULL, &rows, err));
    if (PQntuples(rows) == 0)
        return error_set(err, STATUS_INTERNAL, "the database has no map of queues");
    controls->map = (struct queue_map){ .version = pg_int8(rows, 0, CONTROL_MAP_VERSION),
        .queues = pg_int2(rows, 0, CONTROL_MAP_QUEUES) };
    controls->any = !PQgetisnull(rows, 0, CONTROL_QUEUE);
    for (int i = 0; i < MAX_QUEUES * WORK_KINDS; i++)
        controls->out[i] = (struct queue_control){ .intents_before_us = INT64_MAX };
    for (int row = 0; row < PQntuples(rows) && controls->any; row++) {
        int slot = queue_slot(pg_int2(rows, row, CONTROL_QUEUE), pg_int2(rows, row, CONTROL_KIND));

        if (slot >= 0)
            controls->out[slot] = (struct queue_control){
                .intents_before_us = PQgetisnull(rows, row, CONTROL_INTENTS_BEFORE_US)
                                         ? INT64_MAX
                                         : pg_int8(rows, row, CONTROL_INTENTS_BEFORE_US),
                .rate = pg_int8(rows, row, CONTROL_RATE),
            };
    }
    return STATUS_OK;
}

enum status queue_work_read_controls(struct worker *store, struct queue_map *map,
    struct queue_control out[MAX_QUEUES * WORK_KINDS], bool *any, struct error *err)
{
    struct queue_control read[MAX_QUEUES * WORK_KINDS];
    struct controls controls = { .out = read };

    TRY(worker_attempt(store, read_controls, &controls, err));
    *map = controls.map;
    memcpy(out, read, sizeof(read));
    *any = controls.any;
    return STATUS_OK;
}

/* ---- permits ---- */

struct permits {
    int queue, kind;
    int64_t wanted, granted;
};

static enum status take_permits(struct session *session, void *context, struct error *err)
{
    struct permits *permits = context;
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int2(&params, (int16_t)permits->queue);
    pg_add_int2(&params, (int16_t)permits->kind);
    pg_add_int8(&params, permits->wanted);
    TRY(pg_query(&session->pg, &sql_queue_permit, &params, &row, err));
    permits->granted = PQntuples(row) > 0 ? pg_int8(row, 0, PG_ONLY_COLUMN) : permits->wanted;
    return STATUS_OK;
}

enum status queue_work_take_permits(
    struct worker *store, int queue, int kind, int64_t wanted, int64_t *granted, struct error *err)
{
    struct permits permits = { .queue = queue, .kind = kind, .wanted = wanted };

    TRY(worker_attempt(store, take_permits, &permits, err));
    *granted = permits.granted;
    return STATUS_OK;
}

/* ---- applied intents ---- */

struct applied_report {
    const struct applied *applied;
    size_t count;
};

static enum status tell_applied(struct session *session, void *context, struct error *err)
{
    const struct applied_report *telling = context;
    struct pg_array tables, queues, kinds, counts;
    struct pg_params params;
    PG_RESULT result = NULL;

    pg_array_init(&tables, &session->arena, PG_INT8);
    pg_array_init(&queues, &session->arena, PG_INT2);
    pg_array_init(&kinds, &session->arena, PG_INT2);
    pg_array_init(&counts, &session->arena, PG_INT8);
    for (size_t i = 0; i < telling->count; i++) {
        pg_array_int8(&tables, telling->applied[i].table_id);
        pg_array_int2(&queues, telling->applied[i].queue);
        pg_array_int2(&kinds, telling->applied[i].kind);
        pg_array_int8(&counts, telling->applied[i].count);
    }
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &tables);
    pg_add_array(&params, &queues);
    pg_add_array(&params, &kinds);
    pg_add_array(&params, &counts);
    return pg_query(&session->pg, &sql_apply_rates, &params, &result, err);
}

enum status queue_work_add_applied(
    struct worker *store, const struct applied *applied, size_t count, struct error *err)
{
    struct applied_report telling = { applied, count };

    return count > 0 ? worker_attempt(store, tell_applied, &telling, err) : STATUS_OK;
}
