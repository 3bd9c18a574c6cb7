/*
 * leases.c - who looks after which buckets, and what is open in them.
 *
 * Ids of intents begin with sixteen hexadecimal digits of microseconds since 1970, by the database's clock
 * (guard G13): so their order is that of their making.
 */
#include <stdio.h>

#include "store/sql.h"
#include "store/worker_store_internal.h"

enum { LATE_COMMIT_US = 60000000 };

static const char first_id[] = "00000000000000000000000000000000";

/* ---- leases ---- */

struct lease_work {
    const struct worker_store *store;
    int64_t lease_ms;
    bool *held;
};

static enum status hold_leases(struct session *session, void *context, struct error *err)
{
    struct lease_work *work = context;
    struct pg_params params;
    PG_RESULT lanes = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, work->store->worker);
    pg_add_int8(&params, work->lease_ms);
    TRY(pg_query(&session->pg, &sql_lease_hold, &params, &lanes, err));
    memset(work->held, 0, LEASE_LANES * sizeof(work->held[0]));
    for (int i = 0; i < PQntuples(lanes); i++)
        work->held[pg_int2(lanes, i, 0)] = true;
    return STATUS_OK;
}

enum status worker_hold_leases(
    struct worker_store *store, int64_t lease_ms, bool held[LEASE_LANES], struct error *err)
{
    struct lease_work work = { store, lease_ms, held };

    return worker_attempt(store, hold_leases, &work, err);
}

static enum status release_leases(struct session *session, void *context, struct error *err)
{
    const struct worker_store *store = context;
    struct pg_params params;
    PG_RESULT result = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, store->worker);
    return pg_query(&session->pg, &sql_lease_release, &params, &result, err);
}

enum status worker_release_leases(struct worker_store *store, struct error *err)
{
    return worker_attempt(store, release_leases, store, err);
}

/* ---- ids as times ---- */

static void id_of_us(int64_t us, char out[33])
{
    snprintf(out, 33, "%016llx%s", (unsigned long long)(us > 0 ? us : 0), first_id + 16);
}

/* ---- scanning ---- */

struct scan {
    int lane;
    const struct scan_scope *scope; /* NULL: all work */
    const char *from_id;
    int64_t min_age_us;
    size_t most;
    struct arena *arena;
    struct intent *intents;
    size_t count;
    char *next_low_id;
};

/* The work of a lane's buckets that is in the scope, as the first three parameters. */
static void add_scope(const struct scan *scan, struct arena *arena, struct pg_params *params)
{
    struct pg_array buckets, kinds, until;
    char id[33];

    pg_array_init(&buckets, arena, PG_INT2);
    pg_array_init(&kinds, arena, PG_INT2);
    pg_array_init(&until, arena, PG_UUID);
    for (int bucket = scan->lane * LANE_BUCKETS; bucket < (scan->lane + 1) * LANE_BUCKETS; bucket++)
        for (int kind = 1; kind <= WORK_KINDS; kind++) {
            int slot = queue_slot(queue_of((int16_t)bucket, scan->scope->queues), kind);

            if (scan->scope->until_us[slot] == 0)
                continue;
            id_of_us(scan->scope->until_us[slot], id);
            pg_array_int2(&buckets, (int16_t)bucket);
            pg_array_int2(&kinds, (int16_t)kind);
            pg_array_uuid(&until, id);
        }
    pg_add_array(params, &buckets);
    pg_add_array(params, &kinds);
    pg_add_array(params, &until);
}

static enum status send_scan(struct session *session, const struct scan *scan, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int4(&params, scan->lane * LANE_BUCKETS);
    pg_add_int4(&params, (scan->lane + 1) * LANE_BUCKETS - 1);
    pg_add_uuid(&params, scan->from_id);
    TRY(pg_send(&session->pg, &sql_intent_first, &params, err));
    if (scan->scope) {
        pg_params_init(&params, &session->arena);
        add_scope(scan, &session->arena, &params);
        pg_add_uuid(&params, scan->from_id);
    }
    pg_add_int8(&params, scan->min_age_us);
    pg_add_int8(&params, (int64_t)scan->most);
    TRY(pg_send(&session->pg, scan->scope ? &sql_intent_scan_some : &sql_intent_scan, &params, err));
    return pg_sync(&session->pg, err);
}

static void fill_intents(struct scan *scan, const PGresult *result)
{
    scan->count = (size_t)PQntuples(result);
    scan->intents = ARENA_ARRAY(scan->arena, struct intent, scan->count);
    for (int i = 0; i < PQntuples(result); i++) {
        struct intent *intent = &scan->intents[i];

        *intent = (struct intent){ .bucket = pg_int2(result, i, 0),
            .kind = pg_int2(result, i, 2),
            .table_id = pg_int8(result, i, 3),
            .key = { arena_copy(scan->arena, pg_bytes(result, i, 4)),
                arena_copy(scan->arena, pg_bytes(result, i, 5)) },
            .version = pg_int8(result, i, 6) };
        pg_uuid(result, i, 1, intent->id);
    }
}

/* What is being written now has an id of half a minute ago at most: a minute behind all that is seen is safe.
 */
static void fill_low_id(struct scan *scan, const PGresult *first)
{
    int64_t us = pg_int8(first, 0, 0);

    if (!PQgetisnull(first, 0, 1)) {
        char id[33];

        pg_uuid(first, 0, 1, id);
        if (intent_id_us(id) < us)
            us = intent_id_us(id);
    }
    id_of_us(us - LATE_COMMIT_US, scan->next_low_id);
}

static enum status scan_intents(struct session *session, void *context, struct error *err)
{
    struct scan *scan = context;
    PG_RESULT first = NULL;
    PG_RESULT found = NULL;

    TRY(send_scan(session, scan, err));
    TRY(pg_next(&session->pg, &first, err));
    TRY(pg_next(&session->pg, &found, err));
    TRY(pg_end(&session->pg, err));
    fill_intents(scan, found);
    fill_low_id(scan, first);
    return STATUS_OK;
}

enum status worker_scan_some(struct worker_store *store, int lane, const struct scan_scope *scope,
    const char *from_id, int64_t min_age_ms, size_t most, struct arena *arena, struct intent **out,
    size_t *count, char next_low_id[33], struct error *err)
{
    struct scan scan = { .lane = lane,
        .scope = scope,
        .from_id = from_id[0] ? from_id : first_id,
        .min_age_us = min_age_ms * 1000,
        .most = most,
        .arena = arena,
        .next_low_id = next_low_id };

    TRY(worker_attempt(store, scan_intents, &scan, err));
    *out = scan.intents;
    *count = scan.count;
    return STATUS_OK;
}

enum status worker_scan_intents(struct worker_store *store, int lane, const char *from_id, int64_t min_age_ms,
    size_t most, struct arena *arena, struct intent **out, size_t *count, char next_low_id[33],
    struct error *err)
{
    return worker_scan_some(
        store, lane, NULL, from_id, min_age_ms, most, arena, out, count, next_low_id, err);
}
