/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_batch.c - see the header.
 *
 * The order of the reads is what makes the answers true: first the tokens and the lag, then the entries (guard G22). The
 * entries, the sources they are checked against and, if a look-up asks for the latest, the question whether anything is
 * open are read in one snapshot (guard G21).
 */
#include "store/short_reads/short_batch.h"

#include "store/entities/read_batch.h"
#include "store/intents/freshness.h"
#include "store/session/operation_times.h"
#include "store/session/unit_of_work.h"
#include "store/short_reads/short_lookup.h"
#include "store/short_reads/short_page.h"
#include "store/sql.h"

enum {
    MAX_ATTEMPTS = 3,
    MAX_SOURCE_BYTES = 4 << 20, /* of properties, of all sources of a flight */
};

struct flight {
    struct operation *batch;
    struct short_lookup *lookups;
    struct short_page *pages;
    size_t lookup_count, page_count;
    struct short_ranges ranges;
    struct lag_seen lag;
    bool in_snapshot;
    bool asks_behind; /* a look-up asks for the latest */
};

bool short_batch_may_have(const struct operation *operation)
{
    switch (operation->kind) {
    case OPERATION_LOOKUP:
        return operation->wait_for_transaction.len == 0 && short_lookup_may_be(operation);
    case OPERATION_PAGE:
        return operation->wait_for_transaction.len == 0 && short_page_may_be(operation);
    default:
        return false;
    }
}

/* ---- detours ---- */

static void run_alone(struct operation *operation)
{
    operation_times_set_detour(operation, DETOUR_ALONE);
}

static bool is_here(const struct operation *operation)
{
    return operation_times_detour(operation) == DETOUR_NONE;
}

/* What it requires is not there yet. One that has waited for it before is to tell what has happened since. */
static void let_wait(struct operation *operation)
{
    operation_times_set_detour(
        operation, operation_times_fresh_us(operation) == 0 ? DETOUR_WAIT : DETOUR_ALONE);
}

/* ---- what is asked ---- */

static enum status resolve(struct session *session, struct flight *flight, struct operation *operation)
{
    struct error ignored;

    if (operation->kind == OPERATION_LOOKUP)
        return short_lookup_resolve(session, operation, &flight->lookups[flight->lookup_count++], &ignored);
    return short_page_resolve(session, operation, &flight->pages[flight->page_count++], &ignored);
}

/* Whatever is not found may be there in the catalogue of now; refusals themselves are left to who runs alone. */
static enum status resolve_all(struct session *session, struct flight *flight, struct error *err)
{
    bool all_found = true;

    flight->lookup_count = flight->page_count = 0;
    for (struct operation *operation = flight->batch; operation; operation = operation->next) {
        operation_times_set_detour(operation, DETOUR_NONE);
        if (resolve(session, flight, operation) == STATUS_OK)
            continue;
        run_alone(operation);
        all_found = false;
    }
    return all_found ? STATUS_OK : session_confirm(session, operation_times_latest_us(flight->batch), err);
}

static enum status ask_tokens(struct session *session, struct flight *flight, struct error *err)
{
    struct freshness_wait *waits = ARENA_ARRAY(&session->arena, struct freshness_wait, flight->lookup_count);
    size_t count = 0;

    for (size_t i = 0; i < flight->lookup_count; i++) {
        struct operation *operation = flight->lookups[i].operation;

        if (is_here(operation) && operation->in.lookup.freshness.at_least_count > 0)
            waits[count++] = (struct freshness_wait){ .operation = operation,
                .is_strong = index_is_strong(flight->lookups[i].index),
                .answer = FRESHNESS_NOW };
    }
    if (count == 0)
        return STATUS_OK;
    TRY(freshness_ask_blocks(session, waits, count, err));
    for (size_t i = 0; i < count; i++)
        if (waits[i].answer != FRESHNESS_NOW)
            let_wait(waits[i].operation);
    return STATUS_OK;
}

static bool asks_behind(const struct short_lookup *lookup)
{
    return lookup->reads_around && is_here(lookup->operation);
}

static void plan_all(struct session *session, struct flight *flight)
{
    short_ranges_init(&flight->ranges, flight->lookup_count + flight->page_count, &session->arena);
    flight->in_snapshot = flight->asks_behind = false;
    for (size_t i = 0; i < flight->lookup_count; i++) {
        struct short_lookup *lookup = &flight->lookups[i];

        if (is_here(lookup->operation) && !short_lookup_plan(session, lookup, &flight->ranges))
            run_alone(lookup->operation);
        flight->in_snapshot |= is_here(lookup->operation) && lookup->needs_snapshot;
        flight->asks_behind |= asks_behind(lookup);
    }
    for (size_t i = 0; i < flight->page_count; i++)
        if (is_here(flight->pages[i].operation) && !short_page_plan(&flight->pages[i], &flight->ranges))
            run_alone(flight->pages[i].operation);
}

/* ---- the first flight: lag, what is open, rows ---- */

static bool is_listed(const int64_t *ids, size_t count, int64_t id)
{
    while (count > 0)
        if (ids[--count] == id)
            return true;
    return false;
}

static enum status send_behind(struct session *session, const struct flight *flight, struct error *err)
{
    int64_t *ids = ARENA_ARRAY(&session->arena, int64_t, flight->lookup_count);
    struct pg_params params;
    struct pg_array tables;
    size_t count = 0;

    pg_array_init(&tables, &session->arena, PG_INT8);
    for (size_t i = 0; i < flight->lookup_count; i++) {
        const struct short_lookup *lookup = &flight->lookups[i];

        if (!asks_behind(lookup) || is_listed(ids, count, lookup->index->source_table_id))
            continue;
        ids[count++] = lookup->index->source_table_id;
        pg_array_int8(&tables, lookup->index->source_table_id);
    }
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &tables);
    return pg_send(&session->pg, &sql_tables_behind, &params, err);
}

/* What is open must be read around, one source after the other: not here. */
static enum status take_behind(struct session *session, struct flight *flight, struct error *err)
{
    PG_RESULT behind = NULL;

    TRY(pg_next(&session->pg, &behind, err));
    for (int row = 0; row < PQntuples(behind); row++)
        for (size_t i = 0; i < flight->lookup_count; i++) {
            const struct short_lookup *lookup = &flight->lookups[i];

            if (asks_behind(lookup) && lookup->index->source_table_id == pg_int8(behind, row, PG_ONLY_COLUMN))
                run_alone(lookup->operation);
        }
    return STATUS_OK;
}

static enum status send_rows(struct session *session, const struct flight *flight, struct error *err)
{
    if (flight->lookup_count > 0) {
        TRY(lag_send(session, err));
        TRY(pg_sync(&session->pg, err)); /* a snapshot begins in a transaction of its own */
    }
    if (flight->in_snapshot)
        TRY(session_send_begin_snapshot(session, err));
    if (flight->asks_behind)
        TRY(send_behind(session, flight, err));
    session_asks_version(session);
    TRY(short_ranges_send(session, &flight->ranges, err));
    return pg_sync(&session->pg, err);
}

static enum status take_rows(struct session *session, struct flight *flight, struct error *err)
{
    if (flight->lookup_count > 0) {
        TRY(lag_take(session, &flight->lag, err));
        TRY(pg_end(&session->pg, err));
    }
    if (flight->in_snapshot)
        TRY(pg_done(&session->pg, err));
    if (flight->asks_behind)
        TRY(take_behind(session, flight, err));
    TRY(short_ranges_take(session, &flight->ranges, err));
    TRY(pg_end(&session->pg, err));
    session_note_confirmed(session);
    return STATUS_OK;
}

/* ---- the second flight: sources ---- */

/* The reads of sources, as a list; *keys: in all of them. */
static struct operation *list_sources(const struct flight *flight, size_t *keys)
{
    struct operation *list = NULL;

    *keys = 0;
    for (size_t i = 0; i < flight->lookup_count; i++) {
        struct operation *sources = &flight->lookups[i].sources;

        if (!is_here(flight->lookups[i].operation) || sources->in.get.count == 0)
            continue;
        sources->next = list;
        list = sources;
        *keys += sources->in.get.count;
    }
    return list;
}

static enum status read_sources(struct session *session, struct flight *flight, struct error *err)
{
    size_t keys;
    struct operation *list = list_sources(flight, &keys);

    if (list)
        TRY(read_batch_small(session, list, MAX_SOURCE_BYTES / (int32_t)keys, err));
    return session_end_snapshot(session, err);
}

/* ---- outcomes ---- */

static bool is_recent(const struct short_lookup *lookup, const struct lag_seen *lag)
{
    return index_is_strong(lookup->index) ||
           freshness_is_recent(&lookup->operation->in.lookup.freshness, &lag->behind);
}

static void decide_entries(struct flight *flight)
{
    for (size_t i = 0; i < flight->lookup_count; i++) {
        struct short_lookup *lookup = &flight->lookups[i];

        if (!is_here(lookup->operation))
            continue;
        if (!is_recent(lookup, &flight->lag))
            let_wait(lookup->operation);
        else if (!short_lookup_take_entries(lookup, &flight->ranges, &flight->lag))
            run_alone(lookup->operation);
    }
}

static void decide_pages(struct flight *flight)
{
    for (size_t i = 0; i < flight->page_count; i++)
        if (is_here(flight->pages[i].operation) && !short_page_take(&flight->pages[i], &flight->ranges))
            run_alone(flight->pages[i].operation);
}

static void finish_lookups(struct flight *flight)
{
    for (size_t i = 0; i < flight->lookup_count; i++)
        if (is_here(flight->lookups[i].operation) && !short_lookup_finish(&flight->lookups[i]))
            run_alone(flight->lookups[i].operation);
}

static enum status fly(struct session *session, struct flight *flight, struct error *err)
{
    if (flight->ranges.count == 0)
        return STATUS_OK;
    TRY(send_rows(session, flight, err));
    TRY(take_rows(session, flight, err));
    decide_entries(flight);
    decide_pages(flight);
    TRY(read_sources(session, flight, err));
    finish_lookups(flight);
    return STATUS_OK;
}

static enum status attempt(struct session *session, void *context, struct error *err)
{
    struct flight *flight = context;
    enum status status;

    TRY(resolve_all(session, flight, err));
    TRY(ask_tokens(session, flight, err));
    plan_all(session, flight);
    status = fly(session, flight, err);
    short_ranges_close(&flight->ranges);
    return status;
}

/* What waits for a lock goes on alone, where its deadline holds. */
static bool is_worth_another(const struct error *err)
{
    return pg_is_transient(err) && !pg_is_lock_timeout(err);
}

static size_t length_of(const struct operation *batch)
{
    size_t length = 0;

    for (; batch; batch = batch->next)
        length++;
    return length;
}

void short_batch_run(struct session *session, struct operation *batch, void *context)
{
    size_t count = length_of(batch);
    struct flight flight = { .batch = batch,
        .lookups = ARENA_ARRAY(&session->arena, struct short_lookup, count),
        .pages = ARENA_ARRAY(&session->arena, struct short_page, count) };
    const struct unit_of_work unit = {
        .attempt = attempt, .context = &flight, .max_attempts = MAX_ATTEMPTS, .is_temporary = is_worth_another
    };
    enum status status = unit_of_work_run(session, &unit, NULL);

    (void)context;
    for (struct operation *operation = batch; operation; operation = operation->next) {
        if (status != STATUS_OK)
            run_alone(operation); /* whatever it was, it concerns one of them, or each will be told */
        operation->status = STATUS_OK;
        operation->error = NULL;
    }
}
