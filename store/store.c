/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - the lanes and the monitor. Which lane and function serve a kind of operation: routes.c.
 *
 * An operation that waits for an event is state, not a thread: see waiters.h. The monitor gives each such operation to
 * its lane when the wait has ended.
 */
#include "store/store.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "domain/reason.h"
#include "store/entities/read_batch.h"
#include "store/entities/write_batch.h"
#include "store/intents/queue_calls.h"
#include "store/lanes/lane.h"
#include "store/lanes/waiters.h"
#include "store/routes.h"
#include "store/session/epoch.h"
#include "store/session/operation_times.h"
#include "store/sql.h"

enum {
    TICK_MS = 50,            /* between two looks at everything that waits */
    LOOK_MS = 500,           /* between two looks at the database */
    ACCESS_LOOK_US = 100000, /* between two looks at the accounts, when somebody asks for them */
    LOOK_LIMIT_US =
        1300000, /* of each wait of a look: that the database stands still is told within two seconds */
    TOKEN_KEY_BYTES = 32,
};

_Static_assert((int)LANE_COUNT == (int)STORE_LANES, "statistics of every lane");

struct store {
    struct store_options options;
    struct commit_observer observer;
    struct lane *lanes[LANE_COUNT];
    struct waiters waiters;

    pthread_t monitor;
    struct session session; /* the monitor's */
    int64_t
        access_version; /* of the access snapshot that was given out last, 0: none; of the monitor's thread */
    int64_t
        access_connects; /* pg.connects when it was read: after a reconnect the database may be a restored one */
    int64_t next_access_us; /* no look at the accounts that was asked for before that; the monitor's */
    atomic_bool access_wanted;
    atomic_bool draining;
    atomic_bool stopping;
    atomic_bool available;
    bool announced; /* availability has been reported at least once; the monitor's */

    pthread_mutex_t mutex; /* of the key */
    bool has_token_key;
    uint8_t token_key[TOKEN_KEY_BYTES];
};

static void run_one(struct store *store, struct session *session, struct operation *operation)
{
    const struct route *route = routes_find(operation->kind);

    if (operation_kind_facts(operation->kind)->only_reads)
        pg_bound(&session->pg, operation->deadline_us, &operation->cancelled);
    if (route->run_observed)
        route->run_observed(session, operation, &store->observer);
    else
        route->run(session, operation);
    pg_unbound(&session->pg);
}

static void run_single(struct session *session, struct operation *batch, void *context)
{
    for (struct operation *operation = batch; operation; operation = operation->next)
        run_one(context, session, operation);
}

static void refuse_operation(struct operation *operation, enum reason reason, const char *text)
{
    struct error err;

    reason_set(&err, reason, "%s", text);
    operation_fail(operation, &err);
    operation->done(operation);
}

static void submit(
    struct store *store, struct operation *operation, bool (*add)(struct lane *, struct operation *))
{
    enum lane_kind lane = routes_find(operation->kind)->lane;

    operation_times_begin(operation);
    if (atomic_load(&store->stopping))
        refuse_operation(operation, REASON_SERVER_DRAINING, "the server is stopping");
    else if (waiters_must_wait(operation) ? !waiters_add(&store->waiters, operation)
                                          : !add(store->lanes[lane], operation))
        refuse_operation(operation, REASON_SERVER_BUSY, "too many operations are waiting");
}

void store_submit(struct store *store, struct operation *operation)
{
    submit(store, operation, lane_submit);
}

void store_collect(struct store *store, struct operation *operation)
{
    submit(store, operation, lane_collect);
}

/* Reads come last: they may run here, and the others need not wait for that. */
void store_run(struct store *store)
{
    for (int i = LANE_COUNT - 1; i >= 0; i--)
        lane_run(store->lanes[i]);
}

/* ---- the monitor ---- */

static enum status read_server(struct store *store, struct error *err)
{
    PG_RESULT result = NULL;
    struct pg_params params;

    TRY(session_ensure(&store->session, err));
    TRY(epoch_ensure(&store->session, err));
    pg_params_init(&params, &store->session.arena);
    pg_add_bytes(&params, STR_LITERAL("token_key"));
    TRY(pg_query(&store->session.pg, &sql_secret_get, &params, &result, err));
    if (PQntuples(result) != 1 || PQgetlength(result, 0, PG_ONLY_COLUMN) < TOKEN_KEY_BYTES)
        return error_set(err, STATUS_INTERNAL, "the database has no token key");
    pthread_mutex_lock(&store->mutex);
    memcpy(store->token_key, PQgetvalue(result, 0, PG_ONLY_COLUMN), TOKEN_KEY_BYTES);
    store->has_token_key = true;
    pthread_mutex_unlock(&store->mutex);
    return STATUS_OK;
}

/* Give out who may do what, if that has changed. */
static enum status confirm_access(struct store *store, struct error *err)
{
    struct session *session = &store->session;
    struct access_snapshot *snapshot = NULL;

    if (!store->options.access_confirmed)
        return STATUS_OK;
    TRY(session_refresh(session, NULL, err));
    if (store->access_version != session->catalogue->version ||
        store->access_connects != session->pg.connects) {
        TRY(access_snapshot_load(&session->pg, &snapshot, err));
        store->access_version = snapshot->catalogue->version;
        store->access_connects = session->pg.connects;
    }
    store->options.access_confirmed(store->options.context, snapshot);
    return STATUS_OK;
}

static enum status tell_queue_map(struct store *store, struct error *err)
{
    struct queue_map map;

    if (!store->options.queues_mapped)
        return STATUS_OK;
    TRY(queue_calls_read_map(&store->session, &map, err));
    store->options.queues_mapped(store->options.context, &map);
    return STATUS_OK;
}

static enum status forget_watermarks(struct store *store, struct error *err)
{
    PG_RESULT result = NULL;

    return pg_query(&store->session.pg, &sql_watermark_forget, NULL, &result, err);
}

/* Whoever asks for a look from here on gets another one. Returns when this one began. */
static int64_t begin_access_look(struct store *store)
{
    int64_t now_us;

    atomic_exchange(&store->access_wanted, false);
    now_us = clock_monotonic_us();
    store->next_access_us = now_us + ACCESS_LOOK_US;
    return now_us;
}

static void end_access_look(struct store *store, int64_t began_us)
{
    if (store->options.access_looked)
        store->options.access_looked(store->options.context, began_us);
}

/* A look has ended: release what it held, and report what has changed. */
static void set_available(struct store *store, bool available, const struct error *err)
{
    if (!available)
        pg_recover(&store->session.pg);
    arena_cleanup(&store->session.arena);
    if (store->announced && atomic_load(&store->available) == available)
        return;
    store->announced = true;
    atomic_store(&store->available, available);
    if (store->options.availability_changed)
        store->options.availability_changed(store->options.context, available, err->message);
}

static void watch_database(struct store *store)
{
    struct error err = { 0 };
    int64_t began_us = begin_access_look(store);
    bool available = read_server(store, &err) == STATUS_OK && confirm_access(store, &err) == STATUS_OK &&
                     tell_queue_map(store, &err) == STATUS_OK && forget_watermarks(store, &err) == STATUS_OK;

    set_available(store, available, &err);
    end_access_look(store, began_us);
}

/* What store_look_at_access asks for; whether the database is back is for watch_database to say. */
static void watch_access(struct store *store)
{
    struct error err = { 0 };
    int64_t began_us = begin_access_look(store);

    if (session_ensure(&store->session, &err) != STATUS_OK || confirm_access(store, &err) != STATUS_OK)
        set_available(store, false, &err);
    arena_cleanup(&store->session.arena);
    end_access_look(store, began_us);
}

static void release_waiters(struct store *store, enum waiters_which which)
{
    struct operation *ready = waiters_take(&store->waiters, &store->session, which);

    while (ready) {
        struct operation *next = ready->next;

        if (ready->error)
            ready->done(ready);
        else
            store_submit(store, ready);
        ready = next;
    }
}

/* Until somebody waiting is to be asked for again, or a look is, a tick at most. */
static int64_t pause_ms(struct store *store)
{
    int64_t due_us = waiters_due_us(&store->waiters), now_us = clock_monotonic_us();

    if (atomic_load(&store->access_wanted) && store->next_access_us < due_us)
        due_us = store->next_access_us;
    if (due_us - now_us > TICK_MS * 1000)
        return TICK_MS;
    return due_us > now_us ? (due_us - now_us + 999) / 1000 : 0;
}

static void *run_monitor(void *argument)
{
    struct store *store = argument;

    int64_t next_look_us = 0, next_tick_us = 0;

    while (!atomic_load(&store->stopping)) {
        int64_t now_us = clock_monotonic_us();
        int64_t due_us = waiters_due_us(&store->waiters);
        bool tick = now_us >= next_tick_us || now_us >= due_us;

        if (now_us >= next_look_us) {
            watch_database(store);
            next_look_us = now_us + LOOK_MS * 1000;
        } else if (atomic_load(&store->access_wanted) && now_us >= store->next_access_us) {
            watch_access(store);
        }
        if (atomic_load(&store->draining))
            release_waiters(store, WAITERS_ALL);
        else
            release_waiters(store, tick ? WAITERS_DECIDED : WAITERS_NEW_AND_DECIDED);
        if (tick)
            next_tick_us = now_us + TICK_MS * 1000;
        waiters_pause(&store->waiters, pause_ms(store));
    }
    return NULL;
}

/* ---- opening and closing ---- */

static const struct lane_steps read_steps = { .begin = read_batch_begin, .finish = read_batch_finish };

static void start_lanes(struct store *store)
{
    const struct store_options *options = &store->options;
    const struct lane_options lanes[LANE_COUNT] = {
        [LANE_READ] = { .name = "tavolad read",
            .threads = options->read_threads,
            .run = read_batch_run,
            .steps = &read_steps },
        [LANE_WRITE] = { .name = "tavolad write", .threads = options->write_threads, .run = write_batch_run },
        [LANE_PAGE] = { .name = "tavolad page", .threads = options->page_threads, .run = run_single },
        [LANE_CHANGE] = { .name = "tavolad change", .threads = 1, .run = run_single },
    };

    for (int i = 0; i < LANE_COUNT; i++) {
        struct lane_options lane = lanes[i];
        bool batches = i == LANE_READ || i == LANE_WRITE;

        lane.postgres = options->postgres;
        lane.remembered = options->remembered;
        lane.answering = options->answering;
        lane.max_waiting = options->max_waiting;
        lane.batch_operations = batches ? options->batch_operations : 1;
        lane.batch_bytes = (size_t)options->batch_bytes;
        lane.context = i == LANE_WRITE ? (void *)&store->observer : (void *)store;
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
    waiters_init(&store->waiters, options->max_waiting);
    pthread_mutex_init(&store->mutex, NULL);
    session_init(&store->session, options->postgres, "tavolad monitor");
    store->session.pg.limit_us = LOOK_LIMIT_US;
    store->session.remembered = options->remembered;
    start_lanes(store);
    if (pthread_create(&store->monitor, NULL, run_monitor, store) != 0)
        abort();
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
    pthread_join(store->monitor, NULL);
    release_waiters(store, WAITERS_ALL);
    for (int i = 0; i < LANE_COUNT; i++)
        lane_stop(store->lanes[i]);
    session_cleanup(&store->session);
    waiters_cleanup(&store->waiters);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

void store_read_statistics(struct store *store, struct store_statistics *out)
{
    static const char *const names[LANE_COUNT] = {
        [LANE_READ] = "read", [LANE_WRITE] = "write", [LANE_PAGE] = "page", [LANE_CHANGE] = "change"
    };

    for (int i = 0; i < LANE_COUNT; i++) {
        out->lanes[i].name = names[i];
        lane_read_statistics(store->lanes[i], &out->lanes[i]);
    }
    waiters_count(&store->waiters, &out->waiting, &out->waiting_refused);
}

bool store_is_available(const struct store *store)
{
    return atomic_load(&store->available);
}

void store_look_at_access(struct store *store)
{
    if (!atomic_exchange(&store->access_wanted, true))
        waiters_wake(&store->waiters);
}

enum status store_token_key(struct store *store, uint8_t out[32], struct error *err)
{
    bool known;

    pthread_mutex_lock(&store->mutex);
    known = store->has_token_key;
    memcpy(out, store->token_key, TOKEN_KEY_BYTES);
    pthread_mutex_unlock(&store->mutex);
    if (known)
        return STATUS_OK;
    return reason_set(err, REASON_STORE_UNAVAILABLE, "the database has not been reached yet");
}
