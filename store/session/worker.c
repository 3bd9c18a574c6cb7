/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - opening and closing, and running a piece of work until it is decided.
 */
#include "store/session/worker.h"

#include <stdlib.h>

#include "store/session/epoch.h"
#include "store/session/worker_internal.h"

enum { MAX_ATTEMPTS = 4 };

void worker_allow_data_loss(bool allowed)
{
    pg_allow_data_loss(allowed);
}

enum status worker_open(const char *postgres, const char *worker, struct worker **out, struct error *err)
{
    struct worker *store;

    if (worker[0] == '\0')
        return error_set(err, STATUS_INVALID,
            "the worker has no name: set TAVOLA_WORKER_NAME; leases and claims are stored under it");
    store = xcalloc(1, sizeof(*store));
    arena_init(&store->arena);
    store->worker = arena_copy(&store->arena, str_of(worker));
    session_init(&store->session, arena_copy(&store->arena, str_of(postgres)).data, "tavola-worker");
    *out = store;
    return STATUS_OK;
}

void worker_close(struct worker *store)
{
    if (!store)
        return;
    session_cleanup(&store->session);
    arena_cleanup(&store->arena);
    free(store);
}

void worker_remember(struct worker *store, struct remembered *remembered)
{
    store->session.remembered = remembered;
}

void worker_share_catalogue(struct worker *store, struct shared_catalogue *catalogue)
{
    store->session.shared_catalogue = catalogue;
}

static enum status look_at_history(struct session *session, void *context, struct error *err)
{
    (void)context;
    return epoch_ensure(session, err);
}

enum status worker_look_at_history(struct worker *store, struct error *err)
{
    return worker_attempt(store, look_at_history, NULL, err);
}

int64_t worker_connection(const struct worker *store)
{
    return store->session.pg.connects;
}

/*
 * A lock timeout is returned at once, because the caller may have other work. A duplicate key: another transaction has
 * inserted the row meanwhile.
 */
static bool is_temporary(const struct error *err)
{
    return (err->status == STATUS_UNAVAILABLE && !pg_is_lock_timeout(err)) || pg_is_duplicate_key(err);
}

/* What keeps this worker from the database is no fault of the work. */
static void name_failure(struct error *err)
{
    if (pg_is_lock_timeout(err))
        err->status = STATUS_TIMEOUT;
    else if (err->status == STATUS_PRECONDITION && !err->reason)
        err->status = STATUS_UNAVAILABLE;
    else if (err->status == STATUS_STALE && !err->reason)
        error_set(err, STATUS_UNAVAILABLE, "other transactions kept changing the catalogue: try again");
}

enum status worker_attempt(struct worker *store, unit_of_work_attempt *work, void *context, struct error *err)
{
    const struct unit_of_work unit = {
        .attempt = work, .context = context, .max_attempts = MAX_ATTEMPTS, .is_temporary = is_temporary
    };
    struct error failure = { 0 };
    enum status status = unit_of_work_run(&store->session, &unit, &failure);

    arena_cleanup(&store->session.arena);
    if (status == STATUS_OK)
        return STATUS_OK;
    name_failure(&failure);
    if (err)
        *err = failure;
    return failure.status;
}
