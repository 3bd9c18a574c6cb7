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
    MAX_SOURCE_BYTES = 4 << 20,  /* of properties, of all sources of a flight */
    MAX_BEGUN_BYTES = 32 * 1024, /* of keys: a socket takes them without waiting for its reader */
};

struct flight {
    struct operation *batch;
    struct short_lookup *lookups;
    struct short_page *pages;
    size_t lookup_count, page_count;
    struct short_ranges ranges;
    struct lag_seen lag;
    void *sources; /* what read_batch_send_small has sent; NULL: nothing */
    bool has_rows;
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

/* Refusals are left to the way alone. false: something was not found in the catalogue that the session knows. */
static bool resolve_all(struct session *session, struct flight *flight)
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
    return all_found;
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

/* ---- the first round trip: lag, what is open, rows ---- */

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

/* ---- the second round trip: sources ---- */

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

/* Also ends the snapshot. */
static enum status send_sources(struct session *session, struct flight *flight, struct error *err)
{
    size_t keys;
    struct operation *list = list_sources(flight, &keys);

    flight->sources = NULL;
    if (list)
        return read_batch_send_small(session, list, MAX_SOURCE_BYTES / (int32_t)keys, &flight->sources, err);
    if (!flight->in_snapshot)
        return STATUS_OK;
    TRY(session_send_end_snapshot(session, err));
    return pg_sync(&session->pg, err);
}

static enum status take_sources(struct session *session, struct flight *flight, struct error *err)
{
    if (flight->sources)
        return read_batch_take_small(session, flight->sources, err);
    return flight->in_snapshot ? pg_end(&session->pg, err) : STATUS_OK;
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

/* ---- the flight ---- */

static enum status take_and_decide(struct session *session, struct flight *flight, struct error *err)
{
    enum status status = take_rows(session, flight, err);

    if (status == STATUS_OK) {
        decide_entries(flight);
        decide_pages(flight);
    }
    short_ranges_close(&flight->ranges);
    return status;
}

static enum status attempt(struct session *session, void *context, struct error *err)
{
    struct flight *flight = context;

    /* What is not found may be there in the catalogue of now. */
    if (!resolve_all(session, flight))
        TRY(session_confirm(session, operation_times_latest_us(flight->batch), err));
    TRY(ask_tokens(session, flight, err));
    plan_all(session, flight);
    if (flight->ranges.count == 0)
        return STATUS_OK;
    TRY(send_rows(session, flight, err));
    TRY(take_and_decide(session, flight, err));
    TRY(send_sources(session, flight, err));
    TRY(take_sources(session, flight, err));
    finish_lookups(flight);
    return STATUS_OK;
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

static struct flight *new_flight(struct session *session, struct operation *batch)
{
    struct flight *flight = ARENA_NEW(&session->arena, struct flight);
    size_t count = length_of(batch);

    *flight = (struct flight){ .batch = batch,
        .lookups = ARENA_ARRAY(&session->arena, struct short_lookup, count),
        .pages = ARENA_ARRAY(&session->arena, struct short_page, count) };
    return flight;
}

static void set_answered(struct operation *batch)
{
    for (struct operation *operation = batch; operation; operation = operation->next) {
        operation->status = STATUS_OK;
        operation->error = NULL;
    }
}

void short_batch_run(struct session *session, struct operation *batch, void *context)
{
    const struct unit_of_work unit = { .attempt = attempt,
        .context = new_flight(session, batch),
        .max_attempts = MAX_ATTEMPTS,
        .is_temporary = is_worth_another };

    (void)context;
    pg_recover(&session->pg); /* what a failed step has left */
    if (unit_of_work_run(session, &unit, NULL) != STATUS_OK)
        for (struct operation *operation = batch; operation; operation = operation->next)
            run_alone(operation); /* whatever it was, it concerns one of them, or each will be told */
    set_answered(batch);
}

/* ---- in steps ---- */

static bool asks_tokens(const struct flight *flight)
{
    for (size_t i = 0; i < flight->lookup_count; i++)
        if (flight->lookups[i].operation->in.lookup.freshness.at_least_count > 0)
            return true;
    return false;
}

static size_t range_bytes(const struct short_ranges *ranges)
{
    size_t bytes = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        const struct key_filter *keys = &ranges->items[i].keys;

        bytes += sizeof(*keys) + keys->partition.low.len + keys->row.low.len + keys->row.high.len;
    }
    return bytes;
}

static size_t source_bytes(const struct flight *flight)
{
    size_t bytes = 0;

    for (size_t i = 0; i < flight->lookup_count; i++) {
        const struct operation_get *in = &flight->lookups[i].sources.in.get;

        for (size_t k = 0; k < in->count; k++)
            bytes += sizeof(in->keys[k]) + in->keys[k].partition.len + in->keys[k].row.len;
    }
    return bytes;
}

void *short_batch_begin(struct session *session, struct operation *batch)
{
    struct flight *flight;
    struct error ignored;

    if (!session_is_ready(session))
        return NULL;
    flight = new_flight(session, batch);
    if (!resolve_all(session, flight) || asks_tokens(flight))
        return NULL;
    plan_all(session, flight);
    if (flight->ranges.count == 0 || range_bytes(&flight->ranges) > MAX_BEGUN_BYTES)
        return NULL;
    return send_rows(session, flight, &ignored) == STATUS_OK ? flight : NULL;
}

static bool finish_rows(struct session *session, struct flight *flight, bool *goes_on)
{
    struct error ignored;

    if (take_and_decide(session, flight, &ignored) != STATUS_OK || source_bytes(flight) > MAX_BEGUN_BYTES ||
        send_sources(session, flight, &ignored) != STATUS_OK)
        return false;
    flight->has_rows = true;
    *goes_on = flight->sources || flight->in_snapshot;
    return true;
}

bool short_batch_finish(
    struct session *session, void *begun, struct operation **batch, struct operation **decided)
{
    struct flight *flight = begun;
    struct error ignored;
    bool goes_on = false;

    *decided = NULL;
    if (!flight->has_rows && !finish_rows(session, flight, &goes_on))
        return false;
    if (goes_on)
        return true;
    if (take_sources(session, flight, &ignored) != STATUS_OK)
        return false;
    finish_lookups(flight);
    set_answered(*batch);
    *decided = *batch;
    *batch = NULL;
    return false;
}
