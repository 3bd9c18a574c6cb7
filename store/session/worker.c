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
        return error_set(err, STATUS_INVALID, "a worker needs a name: leases without one are free");
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

/* The catalogue may not be the one the work was planned with. */
static bool is_stale(enum status status, const struct error *err)
{
    return status == STATUS_STALE && !err->reason;
}

enum status worker_attempt(struct worker *store, worker_work *work, void *context, struct error *err)
{
    struct session *session = &store->session;
    struct error own = { 0 };
    enum status status = STATUS_OK;

    for (int tries = 0; tries < MAX_ATTEMPTS; tries++) {
        own = (struct error){ 0 };
        status = session_ensure(session, &own);
        if (status != STATUS_OK) { /* whatever keeps this worker from connecting is no fault of the work */
            status = own.status = STATUS_UNAVAILABLE;
            break;
        }
        status = work(session, context, &own);
        if (status == STATUS_OK)
            break;
        if (pg_is_lock_timeout(&own))
            status = own.status = STATUS_TIMEOUT;
        pg_recover(&session->pg);
        if (is_stale(status, &own)) {
            struct error ignored;

            if (session_reload(session, &ignored) != STATUS_OK)
                pg_recover(&session->pg);
        } else if (own.status != STATUS_UNAVAILABLE || own.reason) {
            break;
        }
    }
    arena_cleanup(&session->arena);
    if (status == STATUS_OK)
        return STATUS_OK;
    if (is_stale(status, &own))
        status = error_set(&own, STATUS_UNAVAILABLE, "the catalogue kept changing");
    if (err)
        *err = own;
    return status;
}
