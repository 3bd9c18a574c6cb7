/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - the lanes, and the thread that checks operations that wait. routes.c says which lane
 * and function serve each kind of operation.
 *
 * An operation that waits for an event holds no thread: see waiters.h. One thread, with a
 * connection of its own, gives each such operation to its lane when the wait has ended.
 */
#include "store/store.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "domain/limits.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "store/entities/locked_keys.h"
#include "store/entities/locked_writes.h"
#include "store/entities/read_batch.h"
#include "store/entities/write_batch.h"
#include "store/lanes/lane.h"
#include "store/lanes/waiters.h"
#include "store/monitor.h"
#include "store/routes.h"
#include "store/scan_snapshots.h"
#include "store/session/shared_catalogue.h"
#include "store/short_reads/short_batch.h"

enum {
    TICK_MS = 50, /* between two checks of all waiting operations */
    WAITS_LIMIT_US =
        /*
         * of a question: if the database stands still, waiting operations are still answered in
         * time
         */
    1300000,
    /* longer than a batch takes unless it waits for a lock or for the disk */
    WRITE_GATHER_US = 5000,
    /* A write with more, of properties or of entities, keeps PostgreSQL longer than a transaction of small writes. */
    MAX_SHARED_WRITE_BYTES = 64 * 1024,
    MAX_SHARED_WRITE_ENTITIES = 16,
};

_Static_assert((int)LANE_COUNT == (int)STORE_LANES, "statistics of every lane");

struct store {
    struct store_options options;
    struct commit_observer observer;
    struct lane *lanes[LANE_COUNT];
    struct waiters waiters;

    struct scan_snapshots *snapshots;
    struct monitor *monitor;
    struct shared_catalogue *catalogue; /* shared by all sessions */
    struct locked_keys *locked_keys;    /* shared by the sessions of writes */

    pthread_t waits; /* the thread that asks the database about waiting operations */
    struct session waits_session;
    atomic_bool draining;
    atomic_bool stopping;
};

static void run_one(struct store *store, struct session *session, struct operation *operation)
{
    const struct route *route = routes_find(operation->kind);

    if (operation_kind_facts(operation->kind)->only_reads)
        pg_bound(&session->pg, operation->deadline_us, &operation->cancelled);
    if (operation->kind == OPERATION_GET)
        read_batch_run(session, operation, NULL);
    else if (route->run_observed)
        route->run_observed(session, operation, &store->observer);
    else
        route->run(session, operation);
    pg_unbound(&session->pg);
}

/*
 * Whether the operation may share a flight with others. One that has been tried there and has
 * failed runs alone.
 */
static bool is_short(const struct operation *operation)
{
    return operation_times_detour(operation) != DETOUR_ALONE && short_batch_may_have(operation);
}

/* A chunk of an import, or a page of a scan: reads by key, writes and short queries come first. */
static bool is_bulk(const struct operation *operation)
{
    return (operation->kind == OPERATION_WRITE && operation->in.write.count > LIMIT_BATCH_OPERATIONS) ||
           (operation->kind == OPERATION_PAGE && operation->in.page.of_scan);
}

/* A write that would keep those waiting that share its transaction. */
static bool is_large(const struct operation *operation)
{
    return operation->kind == OPERATION_WRITE &&
           (operation_entities(operation) > MAX_SHARED_WRITE_ENTITIES ||
               operation_property_bytes(operation) > MAX_SHARED_WRITE_BYTES);
}

/* The lane of an operation without a special one. */
static enum lane_kind plain_lane(const struct store *store, const struct operation *operation)
{
    enum lane_kind lane = routes_find(operation->kind)->lane;

    return lane == LANE_BLOB && !store->options.chunks ? LANE_BULK : lane;
}

/* Whether the lane of reads has found that the operation reads pages of a list index. */
static bool is_page_read(const struct operation *operation)
{
    return operation->kind == OPERATION_GET && operation_times_detour(operation) == DETOUR_ALONE;
}

/* A look-up in the lane of short reads decides there whether it has to wait for freshness. */
static bool must_wait(const struct operation *operation, bool short_read)
{
    return waiters_must_wait(operation) && (!short_read || operation_times_detour(operation) == DETOUR_WAIT);
}

static void run_single(struct session *session, struct operation *batch, void *context)
{
    for (struct operation *operation = batch; operation; operation = operation->next)
        run_one(context, session, operation);
}

static void run_writes(struct session *session, struct operation *batch, void *context)
{
    struct store *store = context;

    locked_writes_run(session, batch, &store->observer);
}

static void retry_writes(struct session *session, struct operation *batch, void *context)
{
    struct store *store = context;

    locked_writes_retry(session, batch, &store->observer);
}

/* A page of a snapshot is read with the snapshot's own session. */
static void run_bulk(struct session *session, struct operation *batch, void *context)
{
    struct store *store = context;

    if (batch->kind == OPERATION_PAGE && batch->in.page.snapshot) {
        scan_snapshots_run(store->snapshots, batch);
    } else if (batch->kind == OPERATION_WRITE) {
        pg_set_lock_wait(&session->pg, SESSION_LOCK_WAIT_MS);
        run_writes(session, batch, store);
    } else {
        /* It cannot be set aside when it meets a lock. */
        pg_set_lock_wait(&session->pg, 0);
        run_single(session, batch, store);
    }
}

static void refuse_operation(struct operation *operation, enum reason reason, const char *text)
{
    struct error err;

    reason_set(&err, reason, "%s", text);
    operation_fail(operation, &err);
    operation->done(operation);
}

/* An operation that a lane, or the list of waiting operations, has not taken. */
static void refuse_not_taken(struct store *store, struct operation *operation, const char *why_full)
{
    if (atomic_load(&store->stopping))
        refuse_operation(operation, REASON_SERVER_DRAINING, "the server is stopping");
    else
        refuse_operation(operation, REASON_SERVER_BUSY, why_full);
}

static void submit(
    struct store *store, struct operation *operation, bool (*add)(struct lane *, struct operation *))
{
    bool short_read = is_short(operation), waits = must_wait(operation, short_read), taken;
    enum lane_kind lane = short_read                ? LANE_SHORT
                          : is_bulk(operation)      ? LANE_BULK
                          : is_large(operation)     ? LANE_LARGE
                          : is_page_read(operation) ? LANE_PAGE
                                                    : plain_lane(store, operation);

    operation_times_begin(operation);
    if (!waits && short_read)
        operation_times_set_detour(operation, DETOUR_NONE);
    /* The lanes and the waiters refuse too, once they are stopped: `stopping` may be set after this line. */
    taken = !atomic_load(&store->stopping) &&
            (waits ? waiters_add(&store->waiters, operation) : add(store->lanes[lane], operation));
    if (!taken)
        refuse_not_taken(store, operation, "too many operations are waiting");
}

/* Without a new time of arrival, which bounds how long the write waits in all. */
static void submit_locked(struct store *store, struct operation *operation)
{
    locked_writes_prepare_retry(operation);
    if (lane_submit(store->lanes[LANE_LOCKED], operation))
        return;
    locked_keys_remove(store->locked_keys, operation);
    refuse_not_taken(store, operation, "too many writes wait for locks of other transactions");
}

/*
 * For the lanes of reads and of short reads: send an operation that has no outcome yet to the lane
 * that it needs.
 */
static bool pass_on(void *context, struct operation *operation)
{
    if (operation_times_detour(operation) == DETOUR_NONE)
        return false;
    submit(context, operation, lane_submit);
    return true;
}

/* For the lanes that write. */
static bool pass_on_locked(void *context, struct operation *operation)
{
    if (!locked_writes_is_aside(operation))
        return false;
    submit_locked(context, operation);
    return true;
}

/* For the lane of locked writes: one that is not tried again has waited to its end. */
static bool pass_on_again(void *context, struct operation *operation)
{
    struct store *store = context;

    if (pass_on_locked(context, operation))
        return true;
    locked_keys_remove(store->locked_keys, operation);
    return false;
}

void store_submit(struct store *store, struct operation *operation)
{
    submit(store, operation, lane_submit);
}

void store_collect(struct store *store, struct operation *operation)
{
    submit(store, operation, lane_collect);
}

void store_begin(struct store *store)
{
    lane_begin(store->lanes[LANE_WRITE]);
}

/*
 * The lanes of reads come last, because they may run in this thread, and the operations of other
 * lanes need not wait for that.
 */
void store_run(struct store *store)
{
    store_run_until(store, -1);
}

/*
 * A write waits for the disk, so it runs in the caller's thread only if the caller can be called away, and no
 * collected read would wait for it.
 */
void store_run_until(struct store *store, int arrivals)
{
    static const enum lane_kind apart[] = { LANE_CHANGE, LANE_PAGE, LANE_LARGE, LANE_BULK, LANE_BLOB,
        LANE_LOCKED };
    struct lane *write = store->lanes[LANE_WRITE], *read = store->lanes[LANE_READ],
                *short_reads = store->lanes[LANE_SHORT];

    _Static_assert(ARRAY_LEN(apart) + 3 == LANE_COUNT, "every lane");
    for (size_t i = 0; i < ARRAY_LEN(apart); i++)
        lane_wake(store->lanes[apart[i]]);
    if (arrivals >= 0 && !lane_has_work(read) && !lane_has_work(short_reads)) {
        lane_run(write, arrivals);
        return;
    }
    lane_wake(write);
    lane_run(read, -1);
    lane_run(short_reads, -1);
}

/* ---- waiting operations ---- */

static void release_waiters(struct store *store, enum waiters_which which)
{
    struct operation *ready = waiters_take(&store->waiters, &store->waits_session, which);

    while (ready) {
        struct operation *next = ready->next;

        if (ready->error)
            ready->done(ready);
        else
            store_submit(store, ready);
        ready = next;
    }
}

/* The time until a waiting operation has to be checked again, at most TICK_MS. */
static int64_t pause_ms(struct store *store)
{
    int64_t due_us = waiters_due_us(&store->waiters), now_us = clock_monotonic_us();

    if (due_us - now_us > TICK_MS * 1000)
        return TICK_MS;
    return due_us > now_us ? (due_us - now_us + 999) / 1000 : 0;
}

static void *release_in_time(void *argument)
{
    struct store *store = argument;
    int64_t next_tick_us = 0;

    if (!store->options.connect_late)
        session_connect_early(&store->waits_session);
    while (!atomic_load(&store->stopping)) {
        int64_t now_us = clock_monotonic_us();
        bool tick = now_us >= next_tick_us || now_us >= waiters_due_us(&store->waiters);

        if (atomic_load(&store->draining))
            release_waiters(store, WAITERS_ALL);
        else
            release_waiters(store, tick ? WAITERS_DECIDED : WAITERS_NEW_AND_DECIDED);
        scan_snapshots_expire(store->snapshots, now_us);
        if (tick)
            next_tick_us = now_us + TICK_MS * 1000;
        waiters_pause(&store->waiters, pause_ms(store));
    }
    return NULL;
}

/* ---- opening and closing ---- */

static const struct lane_steps short_steps = { .begin = short_batch_begin, .finish = short_batch_finish };
static const struct lane_steps write_steps = {
    .begin = write_batch_begin, .finish = write_batch_finish, .waits = write_batch_waits, .alone = true
};
static const struct lane_steps read_steps = { .begin = read_batch_begin, .finish = read_batch_finish };

static int batch_operations(const struct store_options *options, enum lane_kind lane)
{
    switch (lane) {
    case LANE_READ:
    case LANE_WRITE:
    case LANE_LARGE:
        return options->batch_operations;
    case LANE_SHORT:
        return options->batch_operations < SHORT_BATCH_MAX_OPERATIONS ? options->batch_operations
                                                                      : SHORT_BATCH_MAX_OPERATIONS;
    case LANE_LOCKED:
        return LOCKED_WRITES_PER_ROUND;
    default:
        return 1;
    }
}

static void start_lanes(struct store *store)
{
    const struct store_options *options = &store->options;
    const struct lane_options lanes[LANE_COUNT] = {
        [LANE_READ] = { .name = "tavolad read",
            .threads = options->read_threads,
            .run = read_batch_run,
            .pass_on = pass_on,
            .steps = &read_steps },
        [LANE_WRITE] = { .name = "tavolad write",
            .threads = options->write_threads,
            .run = run_writes,
            .pass_on = pass_on_locked,
            .locked_keys = store->locked_keys,
            .lock_wait_ms = SESSION_LOCK_WAIT_MS,
            .gather_us = WRITE_GATHER_US,
            .steps = &write_steps },
        [LANE_SHORT] = { .name = "tavolad short",
            .threads = options->page_threads,
            .run = short_batch_run,
            .steps = &short_steps,
            .pass_on = pass_on,
            .more_cost = short_batch_cost },
        [LANE_LARGE] = { .name = "tavolad large",
            .threads = options->write_threads + 1,
            .max_running = options->write_threads,
            .run = run_writes,
            .pass_on = pass_on_locked,
            .locked_keys = store->locked_keys,
            .lock_wait_ms = SESSION_LOCK_WAIT_MS,
            .gather_us = WRITE_GATHER_US },
        [LANE_BULK] = { .name = "tavolad bulk",
            .threads = options->write_threads + 1,
            .max_running = options->write_threads,
            .run = run_bulk,
            .pass_on = pass_on_locked,
            .locked_keys = store->locked_keys,
            .gives_way_to = store->lanes,
            .gives_way_count = LANE_BULK },
        [LANE_BLOB] = { .name = "tavolad blob",
            .threads = options->chunks ? options->blob_threads + 1 : 0,
            .max_running = options->blob_threads,
            .run = run_single,
            .connect_late = true },
        [LANE_PAGE] = { .name = "tavolad page",
            .threads = options->page_threads + 1,
            .max_running = options->page_threads,
            .run = run_single },
        [LANE_CHANGE] = { .name = "tavolad change", .threads = 1, .run = run_single },
        [LANE_LOCKED] = { .name = "tavolad locked",
            .threads = 1,
            .run = retry_writes,
            .pass_on = pass_on_again,
            .locked_keys = store->locked_keys,
            .lock_wait_ms = SESSION_LOCK_WAIT_MS,
            .rest_us = LOCKED_WRITES_REST_US,
            .connect_late = true },
    };

    for (int i = 0; i < LANE_COUNT; i++) {
        struct lane_options lane = lanes[i];

        lane.postgres = options->postgres;
        lane.remembered = options->remembered;
        lane.catalogue = store->catalogue;
        lane.quotas = options->quotas;
        lane.answering = options->answering;
        lane.max_waiting = options->max_waiting;
        lane.batch_operations = batch_operations(options, i);
        lane.batch_bytes = (size_t)options->batch_bytes;
        lane.chunks = options->chunks;
        lane.connect_late = lane.connect_late || options->connect_late;
        lane.context = store;
        store->lanes[i] = lane_start(&lane);
    }
}

static void no_observer(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    (void)intents;
    (void)count;
}

struct store *store_open(const struct store_options *options)
{
    struct store *store = xcalloc(1, sizeof(*store));

    if (options->allow_data_loss)
        pg_allow_data_loss(true);
    store->options = *options;
    store->observer =
        (struct commit_observer){ options->intents_committed ? options->intents_committed : no_observer,
            options->context };
    store->catalogue = shared_catalogue_new();
    store->locked_keys = locked_keys_new();
    waiters_init(&store->waiters, options->max_waiting);
    session_init(&store->waits_session, options->postgres, "tavolad waits");
    store->waits_session.pg.limit_us = WAITS_LIMIT_US;
    store->waits_session.remembered = options->remembered;
    store->waits_session.shared_catalogue = store->catalogue;
    store->snapshots = scan_snapshots_new(&store->options, store->catalogue);
    start_lanes(store);
    store->monitor = monitor_start(&store->options, store->catalogue);
    if (pthread_create(&store->waits, NULL, release_in_time, store) != 0)
        abort(); /* no memory for the thread's stack */
    return store;
}

void store_drain(struct store *store)
{
    atomic_store(&store->draining, true);
}

void store_close(struct store *store)
{
    if (!store)
        return;
    atomic_store(&store->stopping, true);
    monitor_stop(store->monitor);
    pthread_join(store->waits, NULL);
    waiters_stop(&store->waiters);
    release_waiters(store, WAITERS_ALL);
    /* All, before one is freed: until its threads have ended, a lane may pass an operation on to any other. */
    for (int i = 0; i < LANE_COUNT; i++)
        lane_stop(store->lanes[i]);
    for (int i = 0; i < LANE_COUNT; i++)
        lane_free(store->lanes[i]);
    scan_snapshots_free(store->snapshots);
    session_cleanup(&store->waits_session);
    waiters_cleanup(&store->waiters);
    shared_catalogue_free(store->catalogue);
    locked_keys_free(store->locked_keys);
    free(store);
}

struct scan_snapshot *store_new_snapshot(struct store *store)
{
    return scan_snapshot_new(store->snapshots);
}

void store_free_snapshot(struct scan_snapshot *snapshot)
{
    scan_snapshot_free(snapshot);
}

void store_read_statistics(struct store *store, struct store_statistics *out)
{
    static const char *const names[LANE_COUNT] = { [LANE_READ] = "read",
        [LANE_WRITE] = "write",
        [LANE_LARGE] = "large",
        [LANE_BULK] = "bulk",
        [LANE_BLOB] = "blob",
        [LANE_SHORT] = "short",
        [LANE_PAGE] = "page",
        [LANE_CHANGE] = "change",
        [LANE_LOCKED] = "locked" };

    for (int i = 0; i < LANE_COUNT; i++) {
        out->lanes[i].name = names[i];
        lane_read_statistics(store->lanes[i], &out->lanes[i]);
    }
    waiters_count(&store->waiters, &out->waiting, &out->waiting_refused);
}

int64_t store_foreground_us(struct store *store)
{
    int64_t out = 0;

    for (int i = 0; i < LANE_BULK; i++)
        out += lane_worked_us(store->lanes[i]);
    return out;
}

bool store_is_available(const struct store *store)
{
    return monitor_sees_database(store->monitor);
}

void store_look_at_access(struct store *store)
{
    monitor_look_at_access(store->monitor);
}

enum status store_token_key(struct store *store, uint8_t out[32], struct error *err)
{
    return monitor_token_key(store->monitor, out, err);
}
