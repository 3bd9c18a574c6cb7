/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_batch.c - see the header.
 *
 * The answers are right because of the order of the reads: first the tokens and the lag, then the
 * entries (guard G22). The entries, the sources they are checked against and the question whether
 * anything is open are one statement, and so one snapshot (guard G21). What is asked again is
 * decided by the later statement alone.
 */
#include "store/short_reads/short_batch.h"

#include "domain/operations/operation_times.h"
#include "store/intents/freshness.h"
#include "store/session/unit_of_work.h"
#include "store/short_reads/short_lookup.h"
#include "store/short_reads/short_page.h"
#include "store/sql.h"

enum {
    MAX_ATTEMPTS = 3,
    /* rows read by a range that cost as much as one row found by its key in a flight */
    ROWS_PER_ENTITY = 16,
    HITS_PER_ENTITY = 4, /* index entries, each read with its source */
    BYTES_PER_ENTITY = 4096,
    /* of keys: a socket buffers this much, so sending does not wait for the server to read */
    MAX_BEGUN_BYTES = 32 * 1024,
};

/* One operation of a batch: a look-up or a page. */
struct short_read {
    struct operation *operation;
    struct short_lookup *lookup;             /* NULL for a page */
    struct short_page *page;                 /* NULL for a look-up */
    const struct short_statement *statement; /* NULL: the operation is in no statement */
    bool asks_again;                         /* what the statement has returned does not count */
};

struct flight {
    struct operation *batch;
    struct short_read *reads; /* in the order of the batch */
    struct short_lookup *lookups;
    struct short_page *pages;
    size_t count, lookup_count, page_count;
    struct short_ranges ranges;
    size_t taken; /* number of statements whose results were taken */
    bool has_lag;
    struct lag_seen lag;
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

static void detour_to_run_alone(struct operation *operation)
{
    operation_times_set_detour(operation, DETOUR_ALONE);
}

static bool has_no_detour(const struct operation *operation)
{
    return operation_times_detour(operation) == DETOUR_NONE;
}

/*
 * The required freshness is not reached. An operation that has waited for it before runs alone,
 * where the error tells what has happened since.
 */
static void detour_to_wait(struct operation *operation)
{
    operation_times_set_detour(
        operation, operation_times_fresh_us(operation) == 0 ? DETOUR_WAIT : DETOUR_ALONE);
}

/* ---- planning ---- */

static enum status resolve(struct session *session, struct flight *flight, struct operation *operation)
{
    struct short_read *read = &flight->reads[flight->count++];
    struct error ignored;

    *read = (struct short_read){ .operation = operation };
    if (operation->kind == OPERATION_LOOKUP) {
        read->lookup = &flight->lookups[flight->lookup_count++];
        return short_lookup_resolve(session, operation, read->lookup, &ignored);
    }
    read->page = &flight->pages[flight->page_count++];
    return short_page_resolve(session, operation, read->page, &ignored);
}

/*
 * Resolve all operations. An operation that fails is run alone, where it gets its error. false: a
 * name was not found in the session's catalogue.
 */
static bool resolve_all(struct session *session, struct flight *flight)
{
    bool all_found = true;

    flight->count = flight->lookup_count = flight->page_count = 0;
    for (struct operation *operation = flight->batch; operation; operation = operation->next) {
        operation_times_set_detour(operation, DETOUR_NONE);
        if (resolve(session, flight, operation) == STATUS_OK)
            continue;
        detour_to_run_alone(operation);
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

        if (has_no_detour(operation) && operation->in.lookup.freshness.at_least_count > 0)
            waits[count++] = (struct freshness_wait){ .operation = operation,
                .is_strong = index_shows_writes_at_once(flight->lookups[i].index),
                .answer = FRESHNESS_NOW };
    }
    if (count == 0)
        return STATUS_OK;
    TRY(freshness_ask_blocks(session, waits, count, err));
    for (size_t i = 0; i < count; i++)
        if (waits[i].answer != FRESHNESS_NOW)
            detour_to_wait(waits[i].operation);
    return STATUS_OK;
}

static bool plan(struct session *session, struct short_read *read, struct short_ranges *ranges)
{
    if (read->page) {
        if (!short_page_plan(read->page, ranges))
            return false;
        read->statement = read->page->range->statement;
        return true;
    }
    if (!short_lookup_plan(session, read->lookup, ranges))
        return false;
    read->statement = read->lookup->first->statement;
    return true;
}

static void plan_all(struct session *session, struct flight *flight)
{
    short_ranges_init(&flight->ranges, flight->count, &session->arena);
    flight->taken = 0;
    for (size_t i = 0; i < flight->count; i++) {
        struct short_read *read = &flight->reads[i];

        if (has_no_detour(read->operation) && !plan(session, read, &flight->ranges))
            detour_to_run_alone(read->operation);
    }
}

/* ---- the flight: the lag, then the statements ---- */

/*
 * Each statement is a segment of its own, so that its result does not wait for the next statement.
 */
static enum status send_statements(struct session *session, const struct flight *flight, struct error *err)
{
    for (size_t i = 0; i < flight->ranges.statement_count; i++) {
        TRY(short_ranges_send(session, &flight->ranges, &flight->ranges.statements[i], err));
        TRY(pg_sync(&session->pg, err));
    }
    return STATUS_OK;
}

static enum status send_all(struct session *session, struct flight *flight, struct error *err)
{
    session_asks_version(session);
    flight->has_lag = flight->lookup_count == 0;
    if (flight->lookup_count > 0)
        TRY(lag_send(session, err));
    return send_statements(session, flight, err);
}

static bool is_recent(const struct short_lookup *lookup, const struct lag_seen *lag)
{
    return index_is_strong(lookup->index) ||
           freshness_is_recent(&lookup->operation->in.lookup.freshness, &lag->behind);
}

/* Decide a read whose statement's rows have arrived. */
static void decide(struct session *session, const struct flight *flight, struct short_read *read)
{
    if (read->lookup && !is_recent(read->lookup, &flight->lag)) {
        detour_to_wait(read->operation);
        return;
    }
    read->asks_again = read->lookup && short_lookup_asks_again(session, read->lookup);
    if (!read->asks_again &&
        !(read->lookup ? short_lookup_take(read->lookup, &flight->lag) : short_page_take(read->page)))
        detour_to_run_alone(read->operation);
}

/* Take the next statement, and decide the reads whose rows it brings. */
static enum status take_next(struct session *session, struct flight *flight, struct error *err)
{
    struct short_statement *statement = &flight->ranges.statements[flight->taken];

    if (!flight->has_lag)
        TRY(lag_take(session, &flight->lag, err));
    flight->has_lag = true;
    TRY(short_ranges_take(session, statement, err));
    TRY(pg_end(&session->pg, err));
    for (size_t i = 0; i < flight->count; i++)
        if (flight->reads[i].statement == statement)
            decide(session, flight, &flight->reads[i]);
    short_ranges_clear(statement);
    flight->taken++;
    return STATUS_OK;
}

static bool has_taken_all(const struct flight *flight)
{
    return flight->taken == flight->ranges.statement_count;
}

static enum status take_all(struct session *session, struct flight *flight, struct error *err)
{
    while (!has_taken_all(flight))
        TRY(take_next(session, flight, err));
    return STATUS_OK;
}

/* Plan the reads that are to be asked again. false: there are none. */
static bool plan_again(struct session *session, struct flight *flight)
{
    short_ranges_init(&flight->ranges, flight->count, &session->arena);
    flight->taken = 0;
    for (size_t i = 0; i < flight->count; i++) {
        struct short_read *read = &flight->reads[i];

        if (!read->asks_again)
            continue;
        read->asks_again = false;
        read->statement = NULL;
        if (!plan(session, read, &flight->ranges))
            detour_to_run_alone(read->operation);
    }
    return flight->ranges.count > 0;
}

static enum status attempt(struct session *session, void *context, struct error *err)
{
    struct flight *flight = context;
    enum status status;

    /* A name that was not found may exist in the current catalogue. */
    if (!resolve_all(session, flight))
        TRY(session_confirm(session, operation_times_latest_us(flight->batch), err));
    TRY(ask_tokens(session, flight, err));
    plan_all(session, flight);
    if (flight->ranges.count == 0)
        return STATUS_OK;
    TRY(send_all(session, flight, err));
    status = take_all(session, flight, err);
    while (status == STATUS_OK && plan_again(session, flight)) {
        TRY(send_statements(session, flight, err));
        status = take_all(session, flight, err);
    }
    short_ranges_close(&flight->ranges);
    if (status == STATUS_OK)
        session_note_confirmed(session);
    return status;
}

/*
 * After a lock timeout no other attempt is made: each operation runs alone, bounded by its own
 * deadline.
 */
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
        .reads = ARENA_ARRAY(&session->arena, struct short_read, count),
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
    pg_recover(&session->pg); /* clears what a failed step has left */
    if (unit_of_work_run(session, &unit, NULL) != STATUS_OK)
        for (struct operation *operation = batch; operation; operation = operation->next)
            /*
             * the cause may concern one operation only; if it concerns all, each gets its own error
             */
            detour_to_run_alone(operation);
    set_answered(batch);
}

int64_t short_batch_cost(const struct operation *operation)
{
    bool is_lookup = operation->kind == OPERATION_LOOKUP;
    bool has_hits = is_lookup && !operation->in.lookup.trust_index;
    const struct query_stats *stats = is_lookup ? &operation->out.lookup.stats : &operation->out.page.stats;
    int64_t cost;

    if (operation->status != STATUS_OK || !has_no_detour(operation))
        return 0;
    cost = stats->rows_examined / (has_hits ? HITS_PER_ENTITY : ROWS_PER_ENTITY) +
           stats->bytes_examined / BYTES_PER_ENTITY;
    return cost < SHORT_BATCH_MAX_COST ? cost : SHORT_BATCH_MAX_COST;
}

/* ---- in steps ---- */

static bool asks_tokens(const struct flight *flight)
{
    for (size_t i = 0; i < flight->lookup_count; i++)
        if (flight->lookups[i].operation->in.lookup.freshness.at_least_count > 0)
            return true;
    return false;
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
    if (flight->ranges.count == 0 || short_ranges_sent_bytes(&flight->ranges) > MAX_BEGUN_BYTES)
        return NULL;
    return send_all(session, flight, &ignored) == STATUS_OK ? flight : NULL;
}

/*
 * Move to *decided the operations of the batch that the statement has decided, and those that are
 * in no statement.
 */
static void move_decided(const struct flight *flight, const struct short_statement *statement,
    struct operation **batch, struct operation **decided)
{
    for (size_t i = 0; i < flight->count; i++) {
        const struct short_read *read = &flight->reads[i];

        if (*batch != read->operation)
            continue; /* moved before */
        if (read->asks_again || (read->statement && read->statement != statement)) {
            batch = &read->operation->next;
            continue;
        }
        *decided = *batch;
        *batch = (*batch)->next;
        decided = &(*decided)->next;
    }
    *decided = NULL;
}

bool short_batch_finish(
    struct session *session, void *begun, struct operation **batch, struct operation **decided)
{
    struct flight *flight = begun;
    struct error ignored;

    *decided = NULL;
    if (take_next(session, flight, &ignored) != STATUS_OK) {
        short_ranges_close(&flight->ranges);
        return false;
    }
    move_decided(flight, &flight->ranges.statements[flight->taken - 1], batch, decided);
    set_answered(*decided);
    if (!has_taken_all(flight))
        return true;
    session_note_confirmed(session);
    return plan_again(session, flight) && send_statements(session, flight, &ignored) == STATUS_OK;
}
