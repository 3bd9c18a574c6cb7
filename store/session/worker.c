/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - see the header.
 */
#include "store/session/worker.h"

#include <stdlib.h>

#include "store/connection/stalled_sessions.h"
#include "store/session/epoch.h"
#include "store/session/worker_attempt.h"

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

void worker_use_chunks(struct worker *store, const struct chunk_stores *chunks)
{
    store->session.chunks = chunks;
}

struct str worker_account_of(const struct worker *store, int64_t table_id)
{
    const struct catalogue *catalogue = store->session.catalogue;
    const struct table *table = catalogue ? catalogue_find_id(catalogue, table_id) : NULL;

    return table ? table->account : STR_EMPTY;
}

void worker_collect_traces(struct worker *store, struct taken_traces *traces)
{
    store->traces = traces;
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

static enum status end_stalled(struct session *session, void *context, struct error *err)
{
    return stalled_sessions_end(&session->pg, STALLED_MS, context, err);
}

enum status worker_end_stalled(struct worker *store, struct stalled_sessions *out, struct error *err)
{
    return worker_attempt(store, end_stalled, out, err);
}
