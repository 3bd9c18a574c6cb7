/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog_work.c - the number of open intents, and the time up to which all work is done.
 *
 * The oldest intent of each bucket is found through an index, in milliseconds however many there
 * are. Counting reads all intents, or a sample of them, and is asked for less often.
 */
#include "store/intents/backlog_work.h"

#include "base/numbers.h"
#include "domain/ticks.h"
#include "store/intents/scan_reach.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum oldest_column { OLDEST_RANGE, OLDEST_QUEUE, OLDEST_KIND, OLDEST_US, OLDEST_NOW_US, OLDEST_IS_AHEAD };
enum count_column { COUNT_RANGE, COUNT_QUEUE, COUNT_KIND, COUNT_OPEN };

struct backlog_work {
    const bool *held;
    bool counts;
    struct backlog *out;

    /* The result of one attempt. */
    struct backlog found;
    bool is_ahead
        /*
         * a reconcile in the range has a time ahead of the clock, so the range's progress is
         * unknown
         */
        [LEASE_RANGES];
    bool is_open[LEASE_RANGES], is_open_of[MAX_QUEUES * WORK_KINDS];
    int64_t as_of_us[LEASE_RANGES]; /* 0: this worker does not hold the range */
};

static enum status send_queries(struct session *session, const struct backlog_work *work, struct error *err)
{
    struct pg_array ranges;
    struct pg_params params;

    pg_array_init(&ranges, &session->arena, PG_INT2);
    for (int range = 0; range < LEASE_RANGES; range++)
        if (work->held[range])
            pg_array_int2(&ranges, (int16_t)range);
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &ranges);
    pg_add_int4(&params, RANGE_BUCKETS);
    pg_add_int4(&params, work->found.queues);
    TRY(pg_send(&session->pg, &sql_intent_oldest, &params, err));
    if (work->counts)
        TRY(pg_send(&session->pg, &sql_intent_count, &params, err));
    return pg_sync(&session->pg, err);
}

static void note_age(struct backlog_work *work, int range, int64_t age_us)
{
    int64_t *oldest = &work->found.oldest_age_us[range];

    *oldest = numbers_max(*oldest, work->is_ahead[range] || age_us < 0 ? BACKLOG_UNKNOWN_AGE : age_us);
}

/* The lag of indexes depends on the intents of source keys alone, not on those of transactions. */
static void take_oldest(struct backlog_work *work, const PGresult *rows)
{
    for (int row = 0; row < PQntuples(rows); row++) {
        int range = pg_int2(rows, row, OLDEST_RANGE), kind, slot;
        int64_t now_us = pg_int8(rows, row, OLDEST_NOW_US), age_us;

        if (work->as_of_us[range] == 0)
            work->as_of_us[range] = now_us;
        work->is_ahead[range] |= pg_bool(rows, row, OLDEST_IS_AHEAD);
        if (PQgetisnull(rows, row, OLDEST_KIND))
            continue;
        kind = pg_int2(rows, row, OLDEST_KIND);
        age_us = now_us - pg_int8(rows, row, OLDEST_US);
        note_age(work, range, age_us);
        if (age_us < 0)
            age_us = 0;
        work->is_open[range] = true;
        if (kind == INTENT_RECONCILE) {
            work->as_of_us[range] = numbers_min(work->as_of_us[range], now_us - age_us);
            work->found.lag_us = numbers_max(work->found.lag_us, age_us);
        }
        slot = queue_slot(pg_int4(rows, row, OLDEST_QUEUE), kind);
        if (slot < 0)
            continue;
        work->is_open_of[slot] = true;
        work->found.work[slot].lag_us = numbers_max(work->found.work[slot].lag_us, age_us);
    }
}

static void take_counts(struct backlog_work *work, const PGresult *rows)
{
    memset(work->found.ranges, 0, sizeof(work->found.ranges));
    for (int slot = 0; slot < MAX_QUEUES * WORK_KINDS; slot++)
        work->found.work[slot].open_intents = 0;
    for (int row = 0; row < PQntuples(rows); row++) {
        int slot = queue_slot(pg_int4(rows, row, COUNT_QUEUE), pg_int2(rows, row, COUNT_KIND));

        work->found.ranges[pg_int4(rows, row, COUNT_RANGE)] += pg_int8(rows, row, COUNT_OPEN);
        if (slot >= 0)
            work->found.work[slot].open_intents += pg_int8(rows, row, COUNT_OPEN);
    }
}

/*
 * A count may be an estimate, or older than the search for the oldest intent. It is 0 exactly if
 * nothing is open.
 */
static int64_t bounded(int64_t count, bool is_open)
{
    return is_open ? numbers_max(count, 1) : 0;
}

static void bound_counts(struct backlog_work *work)
{
    for (int range = 0; range < LEASE_RANGES; range++) {
        work->found.ranges[range] = bounded(work->found.ranges[range], work->is_open[range]);
        work->found.open_intents += work->found.ranges[range];
    }
    for (int slot = 0; slot < MAX_QUEUES * WORK_KINDS; slot++)
        work->found.work[slot].open_intents =
            bounded(work->found.work[slot].open_intents, work->is_open_of[slot]);
}

static enum status store_counts(struct session *session, const struct backlog_work *work, struct error *err)
{
    struct pg_array ranges, as_of, open;
    struct pg_params params;
    PG_RESULT stored = NULL;

    pg_array_init(&ranges, &session->arena, PG_INT2);
    pg_array_init(&as_of, &session->arena, PG_INT8);
    pg_array_init(&open, &session->arena, PG_INT8);
    for (int range = 0; range < LEASE_RANGES; range++) {
        if (work->as_of_us[range] == 0)
            continue;
        pg_array_int2(&ranges, (int16_t)range);
        pg_array_int8(&as_of, work->is_ahead[range] ? 0 : ticks_from_unix_us(work->as_of_us[range]));
        pg_array_int8(&open, work->found.ranges[range]);
    }
    if (ranges.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &ranges);
    pg_add_array(&params, &as_of);
    pg_add_array(&params, &open);
    return pg_query(&session->pg, &sql_watermark_store, &params, &stored, err);
}

static enum status read_backlog(struct session *session, void *context, struct error *err)
{
    struct backlog_work *work = context;
    PG_RESULT oldest = NULL;
    PG_RESULT counts = NULL;

    *work = (struct backlog_work){ .held = work->held, .counts = work->counts, .out = work->out };
    work->found = *work->out;
    work->found.lag_us = work->found.open_intents = 0;
    for (int range = 0; range < LEASE_RANGES; range++)
        work->found.oldest_age_us[range] = BACKLOG_NO_AGE;
    for (int slot = 0; slot < MAX_QUEUES * WORK_KINDS; slot++)
        work->found.work[slot].lag_us = 0;
    TRY(send_queries(session, work, err));
    TRY(pg_next(&session->pg, &oldest, err));
    if (work->counts)
        TRY(pg_next(&session->pg, &counts, err));
    TRY(pg_end(&session->pg, err));
    take_oldest(work, oldest);
    if (work->counts)
        take_counts(work, counts);
    bound_counts(work);
    TRY(store_counts(session, work, err));
    *work->out = work->found;
    return STATUS_OK;
}

enum status backlog_work_update(struct worker *store, const bool held[LEASE_RANGES], bool counts,
    struct backlog *backlog, struct error *err)
{
    struct backlog_work work = { .held = held, .counts = counts, .out = backlog };

    return worker_attempt(store, read_backlog, &work, err);
}
