/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.c - see the header.
 */
#include "store/monitor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/condition.h"
#include "domain/reason.h"
#include "store/intents/queue_calls.h"
#include "store/session/epoch.h"
#include "store/sql.h"
#include "store/store_options.h"

enum {
    LOOK_US = 500000,        /* microseconds between two reads of the database's state */
    ACCESS_LOOK_US = 100000, /* microseconds between two reads of the accounts on request */
    /*
     * The limit of each wait for the database, so that a database that stands still is reported
     * within two seconds.
     */
    LOOK_LIMIT_US = 1300000,
};

struct monitor {
    const struct store_options *options;
    pthread_t thread;

    /* The thread's members. */
    struct session session;
    int64_t access_version; /* of the access snapshot that was passed on last; 0: none */
    /* the connection on which that snapshot was read; another one may be to a restored database */
    int64_t access_connects;
    struct account_list *accounts; /* of that snapshot */
    int64_t next_access_us;        /* a read of the accounts on request begins no earlier */
    bool announced;                /* availability was reported at least once */

    atomic_bool available;
    atomic_bool access_wanted;

    pthread_mutex_t mutex;
    pthread_cond_t called; /* the thread has work: access_wanted, or stopping */
    bool stopping;
    bool has_token_key;
    uint8_t token_key[MONITOR_TOKEN_KEY_BYTES];
};

/* ---- looking ---- */

static enum status read_server(struct monitor *monitor, struct error *err)
{
    PG_RESULT result = NULL;
    struct pg_params params;

    TRY(session_ensure(&monitor->session, err));
    TRY(epoch_ensure(&monitor->session, err));
    pg_params_init(&params, &monitor->session.arena);
    pg_add_bytes(&params, STR_LITERAL("token_key"));
    TRY(pg_query(&monitor->session.pg, &sql_secret_get, &params, &result, err));
    if (PQntuples(result) != 1 || PQgetlength(result, 0, PG_ONLY_COLUMN) < MONITOR_TOKEN_KEY_BYTES)
        return error_set(err, STATUS_INTERNAL, "the database has no token key");
    pthread_mutex_lock(&monitor->mutex);
    memcpy(monitor->token_key, PQgetvalue(result, 0, PG_ONLY_COLUMN), MONITOR_TOKEN_KEY_BYTES);
    monitor->has_token_key = true;
    pthread_mutex_unlock(&monitor->mutex);
    return STATUS_OK;
}

static bool are_accounts_known(const struct monitor *monitor)
{
    return monitor->accounts && monitor->access_connects == monitor->session.pg.connects &&
           monitor->access_version >= monitor->session.catalogue->accounts_version;
}

/*
 * If a server cannot open the account keys when it starts, it cannot serve, and only other settings
 * help.
 */
static enum status load_accounts(struct monitor *monitor, struct account_list **out, struct error *err)
{
    const struct store_options *options = monitor->options;
    enum status status = account_list_load(&monitor->session.pg, &options->wrapping_keys, out, err);

    if (status == STATUS_INVALID && !monitor->accounts && options->accounts_unreadable)
        options->accounts_unreadable(options->context, err->message);
    return status;
}

static enum status make_snapshot(struct monitor *monitor, struct access_snapshot **out, struct error *err)
{
    struct session *session = &monitor->session;

    if (!are_accounts_known(monitor)) {
        struct account_list *accounts = NULL;

        TRY(load_accounts(monitor, &accounts, err));
        account_list_release(monitor->accounts);
        monitor->accounts = accounts;
    }
    *out = access_snapshot_new(monitor->accounts, session->catalogue);
    monitor->access_version = session->catalogue->version;
    monitor->access_connects = session->pg.connects;
    return STATUS_OK;
}

/* Pass on the access snapshot if it has changed. */
static enum status confirm_access(struct monitor *monitor, struct error *err)
{
    struct session *session = &monitor->session;
    struct access_snapshot *snapshot = NULL;

    if (!monitor->options->access_confirmed)
        return STATUS_OK;
    TRY(session_refresh(session, NULL, err));
    if (monitor->access_version != session->catalogue->version ||
        monitor->access_connects != session->pg.connects)
        TRY(make_snapshot(monitor, &snapshot, err));
    monitor->options->access_confirmed(monitor->options->context, snapshot);
    return STATUS_OK;
}

static enum status tell_queue_map(struct monitor *monitor, struct error *err)
{
    struct queue_map map;

    if (!monitor->options->queues_mapped)
        return STATUS_OK;
    TRY(queue_calls_read_map(&monitor->session, &map, err));
    monitor->options->queues_mapped(monitor->options->context, &map);
    return STATUS_OK;
}

static enum status forget_watermarks(struct monitor *monitor, struct error *err)
{
    PG_RESULT result = NULL;

    return pg_query(&monitor->session.pg, &sql_watermark_forget, NULL, &result, err);
}

/*
 * Begin a requested read; requests that come from here on cause another one. Returns when this one
 * began.
 */
static int64_t begin_access_look(struct monitor *monitor)
{
    int64_t now_us;

    atomic_exchange(&monitor->access_wanted, false);
    now_us = clock_monotonic_us();
    monitor->next_access_us = now_us + ACCESS_LOOK_US;
    return now_us;
}

static void end_access_look(struct monitor *monitor, int64_t began_us)
{
    if (monitor->options->access_looked)
        monitor->options->access_looked(monitor->options->context, began_us);
}

/* Release the read's memory, and report the availability if it has changed. */
static void set_available(struct monitor *monitor, bool available, const struct error *err)
{
    if (!available)
        pg_recover(&monitor->session.pg);
    arena_cleanup(&monitor->session.arena);
    if (monitor->announced && atomic_load(&monitor->available) == available)
        return;
    monitor->announced = true;
    atomic_store(&monitor->available, available);
    if (monitor->options->availability_changed)
        monitor->options->availability_changed(monitor->options->context, available, err->message);
}

static void watch_database(struct monitor *monitor)
{
    struct error err = { 0 };
    int64_t began_us = begin_access_look(monitor);
    bool available = read_server(monitor, &err) == STATUS_OK && confirm_access(monitor, &err) == STATUS_OK &&
                     tell_queue_map(monitor, &err) == STATUS_OK &&
                     forget_watermarks(monitor, &err) == STATUS_OK;

    set_available(monitor, available, &err);
    end_access_look(monitor, began_us);
}

/*
 * Carry out a read of the accounts that store_look_at_access has asked for. It does not report the
 * database as available: watch_database does.
 */
static void watch_access(struct monitor *monitor)
{
    struct error err = { 0 };
    int64_t began_us = begin_access_look(monitor);

    if (session_ensure(&monitor->session, &err) != STATUS_OK || confirm_access(monitor, &err) != STATUS_OK)
        set_available(monitor, false, &err);
    arena_cleanup(&monitor->session.arena);
    end_access_look(monitor, began_us);
}

/* ---- the thread ---- */

/* The time of the next read: of the database's state, or of the accounts if one was requested. */
static int64_t due_us(const struct monitor *monitor, int64_t next_look_us)
{
    bool soon = atomic_load(&monitor->access_wanted) && monitor->next_access_us < next_look_us;

    return soon ? monitor->next_access_us : next_look_us;
}

/* false: the monitor is stopping. */
static bool wait_for_look(struct monitor *monitor, int64_t next_look_us)
{
    bool stopping;

    pthread_mutex_lock(&monitor->mutex);
    while (!monitor->stopping && clock_monotonic_us() < due_us(monitor, next_look_us))
        (void)condition_wait_until(&monitor->called, &monitor->mutex, due_us(monitor, next_look_us));
    stopping = monitor->stopping;
    pthread_mutex_unlock(&monitor->mutex);
    return !stopping;
}

static void *run_monitor(void *argument)
{
    struct monitor *monitor = argument;
    int64_t next_look_us = 0;

    while (wait_for_look(monitor, next_look_us)) {
        int64_t now_us = clock_monotonic_us();

        if (now_us >= next_look_us) {
            watch_database(monitor);
            next_look_us = now_us + LOOK_US;
        } else {
            watch_access(monitor);
        }
    }
    return NULL;
}

struct monitor *monitor_start(const struct store_options *options, struct shared_catalogue *catalogue)
{
    struct monitor *monitor = xcalloc(1, sizeof(*monitor));

    monitor->options = options;
    session_init(&monitor->session, options->postgres, "tavolad monitor");
    monitor->session.pg.limit_us = LOOK_LIMIT_US;
    monitor->session.remembered = options->remembered;
    monitor->session.shared_catalogue = catalogue;
    pthread_mutex_init(&monitor->mutex, NULL);
    condition_init(&monitor->called);
    if (pthread_create(&monitor->thread, NULL, run_monitor, monitor) != 0)
        abort(); /* no memory for the thread's stack */
    return monitor;
}

void monitor_stop(struct monitor *monitor)
{
    if (!monitor)
        return;
    pthread_mutex_lock(&monitor->mutex);
    monitor->stopping = true;
    pthread_cond_signal(&monitor->called);
    pthread_mutex_unlock(&monitor->mutex);
    pthread_join(monitor->thread, NULL);
    session_cleanup(&monitor->session);
    account_list_release(monitor->accounts);
    pthread_cond_destroy(&monitor->called);
    pthread_mutex_destroy(&monitor->mutex);
    free(monitor);
}

bool monitor_sees_database(const struct monitor *monitor)
{
    return atomic_load(&monitor->available);
}

void monitor_look_at_access(struct monitor *monitor)
{
    if (atomic_exchange(&monitor->access_wanted, true))
        return;
    pthread_mutex_lock(&monitor->mutex);
    pthread_cond_signal(&monitor->called);
    pthread_mutex_unlock(&monitor->mutex);
}

enum status monitor_token_key(
    struct monitor *monitor, uint8_t out[MONITOR_TOKEN_KEY_BYTES], struct error *err)
{
    bool known;

    pthread_mutex_lock(&monitor->mutex);
    known = monitor->has_token_key;
    memcpy(out, monitor->token_key, MONITOR_TOKEN_KEY_BYTES);
    pthread_mutex_unlock(&monitor->mutex);
    if (known)
        return STATUS_OK;
    return reason_set(err, REASON_STORE_UNAVAILABLE, "the database has not been reached yet");
}
