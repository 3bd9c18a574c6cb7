/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locked_writes.c - see the header.
 */
#include "store/entities/locked_writes.h"

#include "base/clock.h"
#include "base/random.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "store/entities/locked_keys.h"
#include "store/entities/write_batch.h"
#include "store/session/resolve.h"
#include "store/session/row_arrays.h"
#include "store/sql.h"

enum {
    /*
     * A write that has waited for this long is tried although its row is locked: it queues for the lock, so that it
     * cannot starve beside writers that hold the row all the time, one after another.
     */
    PATIENT_AFTER_US = 1000000,
    /* A write is refused when this fraction of the time that it has waited is left before its deadline. */
    LAST_FRACTION = 16,
    /* Of a round, for locks that cannot be found without waiting. */
    MAX_WAITS = 4,
};

/* The writes of a batch. */
struct writes {
    struct operation **all; /* in the order of the batch */
    size_t count;
    struct operation **free; /* without an outcome, and not set aside */
    size_t free_count;
};

static void writes_init(struct writes *writes, struct operation *batch, struct arena *arena)
{
    size_t count = 0;

    for (struct operation *operation = batch; operation; operation = operation->next)
        count++;
    writes->all = ARENA_ARRAY(arena, struct operation *, count);
    writes->free = ARENA_ARRAY(arena, struct operation *, count);
    writes->count = writes->free_count = count;
    for (size_t i = 0; i < count; i++, batch = batch->next)
        writes->all[i] = writes->free[i] = batch;
}

static void link_list(struct operation *const *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        operations[i]->next = i + 1 < count ? operations[i + 1] : NULL;
}

bool locked_writes_is_aside(const struct operation *operation)
{
    enum operation_detour detour = operation_times_detour(operation);

    return detour == DETOUR_LOCKED || detour == DETOUR_HELD;
}

void locked_writes_prepare_retry(struct operation *operation)
{
    bool is_held = operation_times_detour(operation) == DETOUR_HELD;

    operation_times_set_detour(operation, is_held ? DETOUR_RETRY : DETOUR_NONE);
}

static void set_aside(struct operation *operation)
{
    operation_times_set_detour(operation, DETOUR_LOCKED);
}

/* Keep those of the free writes that have not been set aside. */
static void drop_aside(struct writes *writes)
{
    size_t kept = 0;

    for (size_t i = 0; i < writes->free_count; i++)
        if (!locked_writes_is_aside(writes->free[i]))
            writes->free[kept++] = writes->free[i];
    writes->free_count = kept;
}

static void set_aside_rest(struct writes *writes)
{
    for (size_t i = 0; i < writes->free_count; i++)
        set_aside(writes->free[i]);
    writes->free_count = 0;
}

/* Those to keys of which a write waits already. */
static void set_aside_known(struct locked_keys *keys, struct writes *writes)
{
    for (size_t i = 0; i < writes->free_count; i++)
        if (locked_keys_has(keys, writes->free[i]))
            set_aside(writes->free[i]);
    drop_aside(writes);
}

/* Run the free writes as one batch. Those that met a lock remain free. */
static void run_free(struct session *session, struct writes *writes, struct commit_observer *observer)
{
    size_t left = 0;

    if (writes->free_count == 0)
        return;
    link_list(writes->free, writes->free_count);
    write_batch_run(session, writes->free[0], observer);
    link_list(writes->all, writes->count);
    for (size_t i = 0; i < writes->free_count; i++) {
        struct operation *operation = writes->free[i];

        if (!locked_writes_is_aside(operation))
            continue;
        operation_times_set_detour(operation, DETOUR_NONE);
        writes->free[left++] = operation;
    }
    writes->free_count = left;
}

/* ---- looking for locks ---- */

/* The keys of the free writes, and to which write each belongs. */
struct asked_keys {
    struct key_arrays keys;
    struct operation **owners;
    size_t count;
};

static void list_keys(struct session *session, const struct writes *writes, struct asked_keys *asked)
{
    size_t max = 0;

    for (size_t i = 0; i < writes->free_count; i++)
        max += writes->free[i]->in.write.count;
    key_arrays_init(&asked->keys, &session->arena);
    asked->owners = ARENA_ARRAY(&session->arena, struct operation *, max);
    asked->count = 0;
    for (size_t i = 0; i < writes->free_count; i++) {
        struct operation *operation = writes->free[i];
        const struct table *table;

        if (resolve_writable(session, operation, &table, NULL) != STATUS_OK)
            continue; /* refused when it runs */
        for (size_t k = 0; k < operation->in.write.count; k++) {
            const struct entity_key *key = &operation->in.write.writes[k].key;

            key_arrays_put(
                &asked->keys, table->table_id, key, entity_key_bucket(table->table_id, key->partition));
            asked->owners[asked->count++] = operation;
        }
    }
}

static enum status ask_held(
    struct session *session, struct asked_keys *asked, PGresult **held, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    key_arrays_add(&asked->keys, &params);
    TRY(pg_send(&session->pg, &sql_begin, NULL, err));
    TRY(pg_send(&session->pg, &sql_entity_held, &params, err));
    TRY(pg_send(&session->pg, &sql_rollback, NULL, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_done(&session->pg, err));
    TRY(pg_next(&session->pg, held, err));
    return pg_end(&session->pg, err);
}

/* Those whose rows are locked. If the database cannot tell, there are none: the writes themselves will fail. */
static void set_aside_locked(struct session *session, struct writes *writes)
{
    struct asked_keys asked;
    PG_RESULT held = NULL;
    struct error ignored;

    if (writes->free_count == 0)
        return;
    pg_recover(&session->pg); /* clears what a write in steps has left */
    if (session_ensure(session, &ignored) != STATUS_OK)
        return;
    list_keys(session, writes, &asked);
    if (asked.count == 0)
        return;
    if (ask_held(session, &asked, &held, &ignored) != STATUS_OK) {
        pg_recover(&session->pg);
        return;
    }
    for (int i = 0; i < PQntuples(held); i++)
        set_aside(asked.owners[pg_int8(held, i, PG_ONLY_COLUMN) - 1]);
    drop_aside(writes);
}

/* ---- in the lanes of writes ---- */

void locked_writes_run(struct session *session, struct operation *batch, void *context)
{
    struct locked_keys *keys = session->locked_keys;
    struct writes writes;

    writes_init(&writes, batch, &session->arena);
    set_aside_known(keys, &writes);
    if (!locked_keys_met_lately(keys, clock_monotonic_us())) {
        run_free(session, &writes, context);
        if (writes.free_count > 0)
            locked_keys_note_met(keys, clock_monotonic_us());
    }
    set_aside_locked(session, &writes);
    run_free(session, &writes, context);
    set_aside_rest(&writes);
    for (size_t i = 0; i < writes.count; i++)
        if (locked_writes_is_aside(writes.all[i]))
            locked_keys_add(keys, writes.all[i]);
}

/* ---- in the lane of those that wait ---- */

/* A round of locked_writes_retry. */
struct round {
    struct session *session;
    struct commit_observer *observer;
    struct writes writes;
    struct operation **held; /* those that met a lock when they ran alone, in a round before */
    size_t held_count;
    struct str waited[MAX_WAITS]; /* accounts of writes that met a lock in this round */
    size_t waits;
};

/* Run one write. If it meets a lock, it is set aside. */
static void run_alone(struct round *round, struct operation *operation)
{
    struct writes alone = {
        .all = round->writes.all, .count = round->writes.count, .free = &operation, .free_count = 1
    };

    operation_times_set_detour(operation, DETOUR_NONE);
    run_free(round->session, &alone, round->observer);
    if (alone.free_count > 0)
        operation_times_set_detour(operation, DETOUR_HELD);
}

static bool may_wait(const struct round *round, const struct operation *operation)
{
    for (size_t i = 0; i < round->waits; i++)
        if (str_equal(round->waited[i], operation->account))
            return false;
    return round->waits < MAX_WAITS;
}

/*
 * Run these writes one by one, from any of them on: a round that has to wait for one does not reach the others of its
 * account, so the next round must begin with another one. Other accounts come first in other rounds (fair_queue.h).
 */
static void run_one_by_one(
    struct round *round, struct operation *const *writes, size_t count, enum operation_detour detour)
{
    size_t start = count > 0 ? random_bits() % count : 0;

    for (size_t i = 0; i < count; i++) {
        struct operation *operation = writes[(start + i) % count];

        operation_times_set_detour(operation, detour);
        if (!may_wait(round, operation))
            continue;
        run_alone(round, operation);
        if (locked_writes_is_aside(operation))
            round->waited[round->waits++] = operation->account;
    }
}

static int64_t waited_us(const struct operation *operation, int64_t now_us)
{
    return now_us - operation_times_arrived_us(operation);
}

static void fail_locked(struct operation *operation, int64_t now_us)
{
    struct error err;

    (void)reason_set(&err, REASON_STORE_UNAVAILABLE,
        "another transaction has locked what this write changes, for %.1f seconds; nothing was done",
        (double)waited_us(operation, now_us) / 1e6);
    operation_times_set_detour(operation, DETOUR_NONE);
    operation_fail(operation, &err);
}

/* Refuse the writes that have waited for too long; the others are set aside again. */
static void conclude(struct session *session, const struct writes *writes)
{
    int64_t now_us = clock_monotonic_us();

    for (size_t i = 0; i < writes->count; i++) {
        struct operation *operation = writes->all[i];
        int64_t wait_us = waited_us(operation, now_us);

        if (!locked_writes_is_aside(operation))
            continue;
        if (wait_us > SESSION_LOCK_WAIT_MS * 1000)
            locked_keys_note_met(session->locked_keys, now_us);
        if (wait_us > LOCKED_WRITES_MAX_WAIT_US || operation->deadline_us - now_us < wait_us / LAST_FRACTION)
            fail_locked(operation, now_us);
    }
}

/* Those that met a lock alone would hold up the others in one batch. */
static void part_held(struct round *round)
{
    struct writes *writes = &round->writes;
    size_t free_count = 0;

    round->held = ARENA_ARRAY(&round->session->arena, struct operation *, writes->count);
    for (size_t i = 0; i < writes->count; i++) {
        struct operation *operation = writes->all[i];

        if (operation_times_detour(operation) == DETOUR_RETRY)
            round->held[round->held_count++] = operation;
        else
            writes->free[free_count++] = operation;
        operation_times_set_detour(operation, DETOUR_NONE);
    }
    writes->free_count = free_count;
}

void locked_writes_retry(struct session *session, struct operation *batch, void *context)
{
    bool is_patient = waited_us(batch, clock_monotonic_us()) > PATIENT_AFTER_US;
    struct round round = { .session = session, .observer = context };

    writes_init(&round.writes, batch, &session->arena);
    part_held(&round);
    set_aside_locked(session, &round.writes);
    run_free(session, &round.writes, context);
    run_one_by_one(&round, round.writes.free, round.writes.free_count, DETOUR_LOCKED);
    run_one_by_one(&round, round.held, round.held_count, DETOUR_HELD);
    if (is_patient && locked_writes_is_aside(batch) && may_wait(&round, batch))
        run_alone(&round, batch);
    conclude(session, &round.writes);
}
