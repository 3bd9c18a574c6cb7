/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_work.c - the leases of bucket ranges, and scans for the open intents in them.
 *
 * Intent ids begin with the time of the database's clock (guard G13), so a scan reads intents in
 * the order in which they were made.
 */
#include "store/intents/lease_work.h"

#include "base/numbers.h"
#include "store/intents/scan_reach.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum { LATE_COMMIT_US = 60000000 };

/* ---- leases ---- */

struct lease_work {
    const struct worker *store;
    int64_t lease_ms;
    bool *held;
};

static enum status hold_leases(struct session *session, void *context, struct error *err)
{
    struct lease_work *work = context;
    struct pg_params params;
    PG_RESULT ranges = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, work->store->worker);
    pg_add_int8(&params, work->lease_ms);
    TRY(pg_query(&session->pg, &sql_lease_hold, &params, &ranges, err));
    memset(work->held, 0, LEASE_RANGES * sizeof(work->held[0]));
    for (int i = 0; i < PQntuples(ranges); i++)
        work->held[pg_int2(ranges, i, PG_ONLY_COLUMN)] = true;
    return STATUS_OK;
}

enum status lease_work_hold(
    struct worker *store, int64_t lease_ms, bool held[LEASE_RANGES], struct error *err)
{
    struct lease_work work = { store, lease_ms, held };

    return worker_attempt(store, hold_leases, &work, err);
}

static enum status release_leases(struct session *session, void *context, struct error *err)
{
    const struct worker *store = context;
    struct pg_params params;
    PG_RESULT result = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, store->worker);
    return pg_query(&session->pg, &sql_lease_release, &params, &result, err);
}

enum status lease_work_release(struct worker *store, struct error *err)
{
    return worker_attempt(store, release_leases, store, err);
}

/* ---- the report ---- */

struct report_work {
    const struct worker *store;
    const struct worker_report *report;
};

static enum status store_report(struct session *session, void *context, struct error *err)
{
    const struct report_work *work = context;
    const struct worker_report *report = work->report;
    struct pg_params params;
    PG_RESULT result = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, work->store->worker);
    pg_add_int8(&params, report->running_s);
    pg_add_int4(&params, report->threads);
    pg_add_int4(&params, report->leases);
    pg_add_int4(&params, report->claimed_keys);
    pg_add_int8(&params, report->reconciled);
    pg_add_int8(&params, report->stepped);
    pg_add_int8(&params, report->retried);
    pg_add_int8(&params, report->buried);
    return pg_query(&session->pg, &sql_worker_report, &params, &result, err);
}

enum status lease_work_report(struct worker *store, const struct worker_report *report, struct error *err)
{
    struct report_work work = { store, report };

    return worker_attempt(store, store_report, &work, err);
}

/* ---- scanning ---- */

struct scan {
    const struct intent_scan *what;
    const struct scan_reach *reach;
    size_t share;
    struct arena *arena;
    struct intents_found found;
};

/* The slots of a bucket range that are scanned, as the first parameters of the two statements. */
struct scan_slots {
    struct pg_array buckets, kinds, until, after;
};

static void add_slot(
    const struct scan *scan, int16_t bucket, int16_t kind, struct intent_id until, struct scan_slots *slots)
{
    struct intent_id after = scan->reach->after[scan_reach_slot(bucket, kind)];

    if (intent_id_is_none(after) && scan->what->rest_only)
        return;
    if (intent_id_is_none(after))
        after = scan->what->from_id;
    pg_array_int2(&slots->buckets, bucket);
    pg_array_int2(&slots->kinds, kind);
    pg_array_intent_id(&slots->until, until);
    pg_array_intent_id(&slots->after, after);
}

/* Add the work of a bucket that the scope includes. */
static void add_scope(const struct scan *scan, int16_t bucket, struct scan_slots *slots)
{
    const struct scan_scope *scope = scan->what->scope;

    for (int16_t kind = 1; kind <= WORK_KINDS; kind++) {
        int slot = queue_slot(queue_control_queue_of(bucket, scope->queues), kind);

        if (scope->until_us[slot] != 0)
            add_slot(scan, bucket, kind, intent_id_first_at(scope->until_us[slot]), slots);
    }
}

static void add_slots(const struct scan *scan, struct arena *arena, struct pg_params *params)
{
    struct scan_slots slots;
    int first = scan->what->range * RANGE_BUCKETS;

    pg_array_init(&slots.buckets, arena, PG_INT2);
    pg_array_init(&slots.kinds, arena, PG_INT2);
    pg_array_init(&slots.until, arena, PG_UUID);
    pg_array_init(&slots.after, arena, PG_UUID);
    for (int bucket = first; bucket < first + RANGE_BUCKETS; bucket++) {
        if (scan->what->scope)
            add_scope(scan, (int16_t)bucket, &slots);
        else
            add_slot(scan, (int16_t)bucket, 0, (struct intent_id){ 0 }, &slots);
    }
    pg_add_array(params, &slots.buckets);
    if (scan->what->scope) {
        pg_add_array(params, &slots.kinds);
        pg_add_array(params, &slots.until);
    }
    pg_add_array(params, &slots.after);
}

static enum status send_first(struct session *session, const struct scan *scan, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int4(&params, scan->what->range * RANGE_BUCKETS);
    pg_add_int4(&params, (scan->what->range + 1) * RANGE_BUCKETS - 1);
    pg_add_intent_id(&params, scan->what->from_id);
    return pg_send(&session->pg, &sql_intent_first, &params, err);
}

static enum status send_scan(struct session *session, const struct scan *scan, struct error *err)
{
    struct pg_params params;

    if (!scan->what->rest_only)
        TRY(send_first(session, scan, err));
    pg_params_init(&params, &session->arena);
    add_slots(scan, &session->arena, &params);
    pg_add_int8(&params, scan->what->min_age_ms * 1000);
    pg_add_int8(&params, (int64_t)scan->share);
    pg_add_int8(&params, (int64_t)scan->what->max);
    TRY(pg_send(&session->pg, scan->what->scope ? &sql_intent_scan_some : &sql_intent_scan, &params, err));
    return pg_sync(&session->pg, err);
}

enum scan_column {
    SCAN_BUCKET,
    SCAN_ID,
    SCAN_KIND,
    SCAN_TABLE,
    SCAN_PARTITION,
    SCAN_ROW,
    SCAN_VERSION,
    SCAN_CTID,
    SCAN_ACCOUNT
};

static void fill_intents(const PGresult *result, struct arena *arena, struct intents_found *found)
{
    found->count = (size_t)PQntuples(result);
    found->intents = ARENA_ARRAY(arena, struct intent, found->count);
    for (int i = 0; i < PQntuples(result); i++) {
        struct intent *intent = &found->intents[i];

        *intent = (struct intent){ .bucket = pg_int2(result, i, SCAN_BUCKET),
            .id = pg_intent_id(result, i, SCAN_ID),
            .kind = pg_int2(result, i, SCAN_KIND),
            .table_id = pg_int8(result, i, SCAN_TABLE),
            .key = { arena_copy(arena, pg_bytes(result, i, SCAN_PARTITION)),
                arena_copy(arena, pg_bytes(result, i, SCAN_ROW)) },
            .version = pg_int8(result, i, SCAN_VERSION),
            .ctids = { .intent = row_ctid_of(pg_bytes(result, i, SCAN_CTID)) },
            .account = arena_copy(arena, pg_bytes(result, i, SCAN_ACCOUNT)) };
    }
}

enum first_column { FIRST_NOW_US, FIRST_ID };

/*
 * An intent that is being written now has an id that is at most half a minute old, so it is safe to
 * begin the next scan one minute before the newest id.
 */
static void fill_low_id(struct scan *scan, const PGresult *first)
{
    int64_t us = pg_int8(first, 0, FIRST_NOW_US);

    if (!PQgetisnull(first, 0, FIRST_ID))
        us = numbers_min(us, intent_id_us(pg_intent_id(first, 0, FIRST_ID)));
    scan->found.low_id = intent_id_first_at(us - LATE_COMMIT_US);
}

static enum status scan_intents(struct session *session, void *context, struct error *err)
{
    struct scan *scan = context;
    PG_RESULT first = NULL;
    PG_RESULT found = NULL;

    TRY(send_scan(session, scan, err));
    if (!scan->what->rest_only)
        TRY(pg_next(&session->pg, &first, err));
    TRY(pg_next(&session->pg, &found, err));
    TRY(pg_end(&session->pg, err));
    fill_intents(found, scan->arena, &scan->found);
    if (!scan->what->rest_only)
        fill_low_id(scan, first);
    return STATUS_OK;
}

enum status lease_work_scan(struct worker *store, const struct intent_scan *what, struct scan_reach *reach,
    struct arena *arena, struct intents_found *out, struct error *err)
{
    struct scan scan = { .what = what,
        .reach = reach,
        .share = scan_reach_share(reach, what->rest_only, what->max),
        .arena = arena };
    struct scan_answer answer;

    TRY(worker_attempt(store, scan_intents, &scan, err));
    answer = (struct scan_answer){ .intents = scan.found.intents,
        .count = scan.found.count,
        .max = what->max,
        .share = scan.share,
        .by_kind = what->scope };
    scan_reach_note(reach, &answer);
    *out = scan.found;
    return STATUS_OK;
}

/* ---- retries ---- */

struct finding_retries {
    const struct retry_scan *what;
    struct arena *arena;
    struct intents_found *found;
};

/* The work of which the scope includes nothing, by queue_slot. */
static void add_excluded(const struct scan_scope *scope, struct pg_array *out)
{
    for (int slot = 0; scope && slot < scope->queues * WORK_KINDS; slot++)
        if (scope->until_us[slot] == 0)
            pg_array_int2(out, (int16_t)slot);
}

static enum status find_retries(struct session *session, void *context, struct error *err)
{
    struct finding_retries *finding = context;
    const struct retry_scan *what = finding->what;
    struct pg_params params;
    struct pg_array ranges, excluded;
    PG_RESULT found = NULL;

    pg_array_init(&excluded, &session->arena, PG_INT2);
    add_excluded(what->scope, &excluded);
    pg_array_init(&ranges, &session->arena, PG_INT2);
    for (int16_t range = 0; range < LEASE_RANGES; range++)
        if (what->ranges[range])
            pg_array_int2(&ranges, range);
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &ranges);
    pg_add_int2(&params, RANGE_BUCKETS);
    pg_add_int8(&params, (int64_t)what->max_of_each);
    pg_add_int8(&params, (int64_t)what->max);
    pg_add_array(&params, &excluded);
    pg_add_int2(&params, (int16_t)(what->scope ? what->scope->queues : 1));
    pg_add_int2(&params, WORK_KINDS);
    TRY(pg_query(&session->pg, &sql_retries_due, &params, &found, err));
    fill_intents(found, finding->arena, finding->found);
    return STATUS_OK;
}

enum status lease_work_find_retries(struct worker *store, const struct retry_scan *what, struct arena *arena,
    struct intents_found *out, struct error *err)
{
    struct finding_retries finding = { what, arena, out };

    return worker_attempt(store, find_retries, &finding, err);
}
