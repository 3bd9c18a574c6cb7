/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_snapshots.c - see the header.
 *
 *   PLANNED --- the first page ---> READING <-- next page ---> PAUSED (its place in the list)
 *                                      |                         |
 *                                      '--> ENDED <--------------'   the last page, a failure, the longest time
 *
 * While READING the session belongs to the thread that reads the page. The mutex guards states and the list.
 */
#include "store/scan_snapshots.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "domain/reason.h"
#include "store/queries/page_read.h"
#include "store/session/attempt.h"
#include "store/session/session.h"
#include "store/session/unit_of_work.h"
#include "store/sql.h"
#include "store/store_options.h"

enum { MAX_ATTEMPTS = 6, US_PER_SECOND = 1000000, MS_PER_SECOND = 1000 };

enum snapshot_state { SNAPSHOT_PLANNED, SNAPSHOT_READING, SNAPSHOT_PAUSED, SNAPSHOT_ENDED };

struct scan_snapshots {
    const struct store_options *options;
    struct shared_catalogue *catalogue;
    pthread_mutex_t mutex;
    int count;                   /* of those that are reading or paused */
    struct scan_snapshot *first; /* those that are paused */
};

struct scan_snapshot {
    struct scan_snapshots *all;
    struct scan_snapshot *next, **link; /* while it is paused */
    enum snapshot_state state;
    int64_t deadline_us; /* clock_monotonic_us */
    int64_t taken_us;    /* the database's clock */
    struct session session;
};

struct scan_snapshots *scan_snapshots_new(
    const struct store_options *options, struct shared_catalogue *catalogue)
{
    struct scan_snapshots *all = xcalloc(1, sizeof(*all));

    all->options = options;
    all->catalogue = catalogue;
    pthread_mutex_init(&all->mutex, NULL);
    return all;
}

void scan_snapshots_free(struct scan_snapshots *all)
{
    if (!all)
        return;
    assert(all->count == 0 && "every stream has ended");
    pthread_mutex_destroy(&all->mutex);
    free(all);
}

static int64_t longest_us(const struct scan_snapshots *all)
{
    return (int64_t)all->options->snapshot_seconds * US_PER_SECOND;
}

struct scan_snapshot *scan_snapshot_new(struct scan_snapshots *all)
{
    struct scan_snapshot *snapshot = xcalloc(1, sizeof(*snapshot));

    snapshot->all = all;
    session_init(&snapshot->session, all->options->postgres, "tavolad snapshot");
    snapshot->session.remembered = all->options->remembered;
    snapshot->session.shared_catalogue = all->catalogue;
    return snapshot;
}

/* ---- states; the caller holds the mutex ---- */

static void enlist(struct scan_snapshot *snapshot)
{
    struct scan_snapshots *all = snapshot->all;

    snapshot->state = SNAPSHOT_PAUSED;
    snapshot->next = all->first;
    snapshot->link = &all->first;
    if (snapshot->next)
        snapshot->next->link = &snapshot->next;
    all->first = snapshot;
}

static void delist(struct scan_snapshot *snapshot)
{
    *snapshot->link = snapshot->next;
    if (snapshot->next)
        snapshot->next->link = snapshot->link;
}

/* Closing the connection ends the transaction, and with it the lock. It sends one message and does not wait. */
static void end_snapshot(struct scan_snapshot *snapshot)
{
    if (snapshot->state == SNAPSHOT_PAUSED)
        delist(snapshot);
    if (snapshot->state == SNAPSHOT_PAUSED || snapshot->state == SNAPSHOT_READING)
        snapshot->all->count--;
    snapshot->state = SNAPSHOT_ENDED;
    session_cleanup(&snapshot->session);
}

static enum status say_expired(const struct scan_snapshots *all, struct error *err)
{
    return reason_set(err, REASON_SNAPSHOT_ENDED,
        "the snapshot was held for %d seconds, the longest time that the server allows "
        "(TAVOLA_SNAPSHOT_SECONDS)",
        all->options->snapshot_seconds);
}

static enum status may_begin(const struct scan_snapshots *all, struct error *err)
{
    if (all->options->max_snapshots == 0)
        return reason_set(err, REASON_NOT_IMPLEMENTED,
            "this server takes no snapshots for scans (TAVOLA_MAX_SNAPSHOTS is 0)");
    if (all->count < all->options->max_snapshots)
        return STATUS_OK;
    return reason_set(err, REASON_SNAPSHOT_RUNNING,
        "this server holds %d snapshots for scans, as many as it may (TAVOLA_MAX_SNAPSHOTS)", all->count);
}

/* Take the session for a page. */
static enum status begin_page(struct scan_snapshot *snapshot, bool *is_first, struct error *err)
{
    struct scan_snapshots *all = snapshot->all;
    enum status status = STATUS_OK;

    pthread_mutex_lock(&all->mutex);
    assert(snapshot->state != SNAPSHOT_READING && "a stream reads one page at a time");
    *is_first = snapshot->state == SNAPSHOT_PLANNED;
    if (snapshot->state == SNAPSHOT_ENDED)
        status = say_expired(all, err);
    else if (*is_first)
        status = may_begin(all, err);
    else
        delist(snapshot);
    if (status == STATUS_OK) {
        all->count += *is_first;
        snapshot->state = SNAPSHOT_READING;
    }
    pthread_mutex_unlock(&all->mutex);
    return status;
}

static void end_page(struct scan_snapshot *snapshot, bool goes_on)
{
    pthread_mutex_lock(&snapshot->all->mutex);
    if (goes_on)
        enlist(snapshot);
    else
        end_snapshot(snapshot);
    pthread_mutex_unlock(&snapshot->all->mutex);
}

/* ---- taking it ---- */

enum take_column { TAKE_IS_ALONE, TAKE_VERSION, TAKE_NOW_US };

static enum status check_taken(
    struct scan_snapshot *snapshot, const PGresult *row, struct str account, struct error *err)
{
    struct session *session = &snapshot->session;

    if (!pg_bool(row, 0, TAKE_IS_ALONE)) {
        (void)reason_set(err, REASON_SNAPSHOT_RUNNING,
            "a scan of this account holds a snapshot already, and an account has one at once");
        error_add_meta(err, "account", account);
        return err->status;
    }
    if (pg_int8(row, 0, TAKE_VERSION) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    session_note_confirmed(session);
    snapshot->taken_us = pg_int8(row, 0, TAKE_NOW_US);
    return STATUS_OK;
}

static enum status take_snapshot(struct session *session, void *context, struct error *err)
{
    const struct operation *operation = context;
    struct scan_snapshot *snapshot = operation->in.page.snapshot;
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_int8(&params, (int64_t)snapshot->all->options->snapshot_seconds * MS_PER_SECOND);
    TRY(session_send_begin_snapshot(session, err));
    TRY(pg_send(&session->pg, &sql_snapshot_take, &params, err));
    TRY(pg_sync(&session->pg, err));
    session->asked_us = session->snapshot_us;
    TRY(pg_done(&session->pg, err));
    TRY(pg_next(&session->pg, &row, err));
    TRY(pg_end(&session->pg, err));
    return check_taken(snapshot, row, operation->account, err);
}

static bool is_given_up(const void *context)
{
    const struct operation *operation = context;

    return atomic_load(&operation->cancelled) || operation->deadline_us <= clock_monotonic_us();
}

static enum status begin_snapshot(struct operation *operation, struct error *err)
{
    struct scan_snapshot *snapshot = operation->in.page.snapshot;
    const struct unit_of_work unit = { .attempt = take_snapshot,
        .context = operation,
        .max_attempts = MAX_ATTEMPTS,
        .is_temporary = pg_is_transient,
        .is_given_up = is_given_up };

    snapshot->deadline_us = clock_monotonic_us() + longest_us(snapshot->all);
    return unit_of_work_run(&snapshot->session, &unit, err);
}

/* ---- pages ---- */

static enum status read_page(
    struct scan_snapshot *snapshot, struct operation *operation, bool is_first, struct error *err)
{
    struct session *session = &snapshot->session;
    struct outcome_page *out = &operation->out.page;

    if (is_first)
        TRY(begin_snapshot(operation, err));
    pg_bound(&session->pg,
        operation->deadline_us < snapshot->deadline_us ? operation->deadline_us : snapshot->deadline_us,
        &operation->cancelled);
    TRY(page_read_in_snapshot(session, operation, err));
    out->snapshot_taken_us = snapshot->taken_us;
    out->snapshot_until_us = snapshot->taken_us + longest_us(snapshot->all);
    /* The lock must be released before the caller knows that the scan has ended, and may begin the next one. */
    return out->more ? STATUS_OK : session_end_snapshot(session, err);
}

void scan_snapshots_run(struct scan_snapshots *all, struct operation *operation)
{
    struct scan_snapshot *snapshot = operation->in.page.snapshot;
    struct error err = { 0 };
    bool is_first;
    enum status status = begin_page(snapshot, &is_first, &err);

    if (status != STATUS_OK) {
        operation_fail(operation, &err);
        return;
    }
    status = read_page(snapshot, operation, is_first, &err);
    arena_cleanup(&snapshot->session.arena);
    if (status != STATUS_OK && !err.reason && clock_monotonic_us() >= snapshot->deadline_us)
        (void)say_expired(all, &err);
    end_page(snapshot, status == STATUS_OK && operation->out.page.more);
    operation->status = STATUS_OK;
    operation->error = NULL;
    if (status != STATUS_OK)
        attempt_fail(operation, &err);
}

/* ---- the end ---- */

void scan_snapshot_free(struct scan_snapshot *snapshot)
{
    struct scan_snapshots *all;

    if (!snapshot)
        return;
    all = snapshot->all;
    pthread_mutex_lock(&all->mutex);
    end_snapshot(snapshot);
    pthread_mutex_unlock(&all->mutex);
    free(snapshot);
}

void scan_snapshots_expire(struct scan_snapshots *all, int64_t now_us)
{
    struct scan_snapshot *next;

    pthread_mutex_lock(&all->mutex);
    for (struct scan_snapshot *snapshot = all->first; snapshot; snapshot = next) {
        next = snapshot->next;
        if (now_us >= snapshot->deadline_us)
            end_snapshot(snapshot);
    }
    pthread_mutex_unlock(&all->mutex);
}
