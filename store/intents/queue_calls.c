/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_calls.c - see the header.
 */
#include "store/intents/queue_calls.h"

#include "domain/reason.h"
#include "store/session/attempt.h"
#include "store/sql.h"

enum view_column {
    VIEW_QUEUE,
    VIEW_KIND,
    VIEW_INTENTS_BEFORE_US,
    VIEW_RATE,
    VIEW_OPEN,
    VIEW_OLDEST_US,
    VIEW_PER_SECOND,
    VIEW_NOW_US,
};

static struct queue_view read_view_row(const PGresult *rows, int row)
{
    struct queue_view view = {
        .queue = pg_int4(rows, row, VIEW_QUEUE),
        .kind = pg_int2(rows, row, VIEW_KIND),
        .control = { .intents_before_us = PQgetisnull(rows, row, VIEW_INTENTS_BEFORE_US)
                                              ? INT64_MAX
                                              : pg_int8(rows, row, VIEW_INTENTS_BEFORE_US),
            .rate = pg_int8(rows, row, VIEW_RATE) },
        .open_intents = pg_int8(rows, row, VIEW_OPEN),
        .per_second = (double)pg_int8(rows, row, VIEW_PER_SECOND) / 1000,
    };
    int64_t oldest_us = PQgetisnull(rows, row, VIEW_OLDEST_US) ? 0 : pg_int8(rows, row, VIEW_OLDEST_US);
    int64_t age_us = oldest_us > 0 ? pg_int8(rows, row, VIEW_NOW_US) - oldest_us : 0;

    view.state = work_state_of(&view.control, oldest_us);
    view.oldest_age_us = age_us > 0 ? age_us : 0;
    return view;
}

enum map_column { MAP_VERSION, MAP_QUEUES };

enum status queue_calls_read_map(struct session *session, struct queue_map *out, struct error *err)
{
    PG_RESULT row = NULL;

    TRY(pg_query(&session->pg, &sql_queue_map, NULL, &row, err));
    if (PQntuples(row) != 1)
        return error_set(err, STATUS_INTERNAL, "the database has no map of queues");
    *out =
        (struct queue_map){ .version = pg_int8(row, 0, MAP_VERSION), .queues = pg_int2(row, 0, MAP_QUEUES) };
    return STATUS_OK;
}

static enum status read_views(struct session *session, struct operation *operation,
    const struct queue_map *map, int32_t queue, int16_t kind, struct error *err)
{
    struct outcome_queues out = { .map = *map };
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int4(&params, map->queues);
    pg_add_int4(&params, queue);
    pg_add_int2(&params, kind);
    TRY(pg_query(&session->pg, &sql_queue_views, &params, &rows, err));
    out.count = (size_t)PQntuples(rows);
    out.views = ARENA_ARRAY(operation->arena, struct queue_view, out.count);
    for (size_t i = 0; i < out.count; i++)
        out.views[i] = read_view_row(rows, (int)i);
    operation->out.queues = out;
    return STATUS_OK;
}

enum worker_column {
    WORKER_NAME,
    WORKER_STARTED_US,
    WORKER_REPORT_AGE_US,
    WORKER_THREADS,
    WORKER_LEASES,
    WORKER_CLAIMED_KEYS,
    WORKER_RECONCILED,
    WORKER_STEPPED,
    WORKER_RETRIED,
    WORKER_BURIED,
    WORKER_OPERATIONS,
};

static struct worker_view read_worker_row(const PGresult *rows, int row, struct arena *arena)
{
    return (struct worker_view){
        .name = arena_copy(arena, pg_bytes(rows, row, WORKER_NAME)),
        .started_us = pg_int8(rows, row, WORKER_STARTED_US),
        .report_age_us = pg_int8(rows, row, WORKER_REPORT_AGE_US),
        .threads = pg_int4(rows, row, WORKER_THREADS),
        .leases = pg_int4(rows, row, WORKER_LEASES),
        .claimed_keys = pg_int4(rows, row, WORKER_CLAIMED_KEYS),
        .reconciled = pg_int8(rows, row, WORKER_RECONCILED),
        .stepped = pg_int8(rows, row, WORKER_STEPPED),
        .retried = pg_int8(rows, row, WORKER_RETRIED),
        .buried = pg_int8(rows, row, WORKER_BURIED),
        .operations = arena_copy(arena, pg_bytes(rows, row, WORKER_OPERATIONS)),
    };
}

static enum status read_workers(struct session *session, struct operation *operation, struct error *err)
{
    struct outcome_queues *out = &operation->out.queues;
    PG_RESULT rows = NULL;

    TRY(pg_query(&session->pg, &sql_worker_list, NULL, &rows, err));
    out->worker_count = (size_t)PQntuples(rows);
    out->workers = ARENA_ARRAY(operation->arena, struct worker_view, out->worker_count);
    for (size_t i = 0; i < out->worker_count; i++)
        out->workers[i] = read_worker_row(rows, (int)i, operation->arena);
    return STATUS_OK;
}

static enum status list(struct session *session, struct operation *operation, struct error *err)
{
    struct queue_map map;

    TRY(queue_calls_read_map(session, &map, err));
    TRY(read_views(session, operation, &map, -1, 0, err));
    return read_workers(session, operation, err);
}

void queue_calls_list(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list);
}

enum backlog_column { BACKLOG_LAG_US, BACKLOG_DEAD_LETTERS };

static enum status read_backlog(struct session *session, struct operation *operation, struct error *err)
{
    PG_RESULT row = NULL;

    TRY(pg_query(&session->pg, &sql_backlog_of_all, NULL, &row, err));
    operation->out.backlog = (struct outcome_backlog){
        .lag_us = pg_int8(row, 0, BACKLOG_LAG_US),
        .dead_letters = pg_int8(row, 0, BACKLOG_DEAD_LETTERS),
    };
    return STATUS_OK;
}

void queue_calls_backlog(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, read_backlog);
}

/* Run the statement and write its audit record, in one transaction. */
static enum status run_statement(
    struct session *session, const struct embedded *sql, const struct pg_params *params, struct error *err)
{
    PG_RESULT result = NULL;

    TRY(session_begin_statement(session, sql, params, &result, err));
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

static enum status reshard(struct session *session, struct operation *operation, struct error *err)
{
    struct queue_map map;
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int4(&params, operation->in.queues.queues);
    TRY(run_statement(session, &sql_queue_reshard, &params, err));
    TRY(queue_calls_read_map(session, &map, err));
    return read_views(session, operation, &map, -1, 0, err);
}

/*
 * If the answer is lost, a second attempt changes nothing, except that a drain then includes
 * intents made meanwhile.
 */
static enum status control(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_queues *in = &operation->in.queues;
    struct queue_map map;
    struct pg_params params;

    if (in->action == QUEUE_RESHARD)
        return reshard(session, operation, err);
    TRY(queue_calls_read_map(session, &map, err));
    if (in->queue >= map.queues)
        return reason_set(
            err, REASON_INVALID_INPUT, "queue is q%d; allowed: q0 to q%d", in->queue, map.queues - 1);
    pg_params_init(&params, &session->arena);
    pg_add_int4(&params, map.queues);
    pg_add_int4(&params, in->queue);
    pg_add_int2(&params, in->kind);
    pg_add_int2(&params, (int16_t)in->action);
    pg_add_int8(&params, in->rate);
    TRY(run_statement(session, &sql_queue_control, &params, err));
    return read_views(session, operation, &map, in->queue, in->kind, err);
}

void queue_calls_control(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, control);
}
