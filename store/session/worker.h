/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - a worker's connection to PostgreSQL. The headers *_work.h, reconcile.h and sweep.h of
 * the other rooms say what workers do with it. Each of their functions is one short transaction, or
 * a few of them, and a crash between any two leaves work that another worker continues.
 *
 * A worker has a connection with a catalogue; it belongs to one thread, connects by itself, and
 * connects again if the connection is lost. If the database cannot be reached, every function
 * returns STATUS_UNAVAILABLE and changes nothing; attempts to connect are made at most once a
 * second.
 */
#ifndef STORE_SESSION_WORKER_H
#define STORE_SESSION_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/intents/intent.h"
#include "domain/intents/queue_control.h"

struct chunk_stores; /* base/chunk_store.h */
struct worker;
struct remembered;
struct shared_catalogue;

/* See pg_allow_data_loss. */
void worker_allow_data_loss(bool allowed);

/* worker: the name that leases and timelines show. Does not connect. */
MUST_USE enum status worker_open(
    const char *postgres, const char *worker, struct worker **out, struct error *err);
void worker_close(struct worker *store);

/*
 * Notice restores of the database by means of `remembered`, which is borrowed and shared by the
 * worker's threads.
 */
void worker_remember(struct worker *store, struct remembered *remembered);

/* Share the catalogue; it is borrowed, and the same for all of the worker's threads. */
void worker_share_catalogue(struct worker *store, struct shared_catalogue *catalogue);

/* The stores of chunks that are not in the database; borrowed. NULL, as at first: there are none. */
void worker_use_chunks(struct worker *store, const struct chunk_stores *chunks);

/*
 * Read the history of the database, as on a new connection, so that the remembered state is recent.
 */
MUST_USE enum status worker_look_at_history(struct worker *store, struct error *err);

struct stalled_sessions; /* store/connection/stalled_sessions.h */

/* End those sessions of this role whose program has been stopped inside a transaction for STALLED_MS. */
MUST_USE enum status worker_end_stalled(
    struct worker *store, struct stalled_sessions *out, struct error *err);

/*
 * The number of the present connection, which differs after each reconnect. Reconciles do not wait
 * for the disk, so a caller that remembers finished intents must forget them if the number has
 * changed.
 */
int64_t worker_connection(const struct worker *store);

/* The account of a table, which the present catalogue owns; empty: there is no such table. */
struct str worker_account_of(const struct worker *store, int64_t table_id);

/*
 * observe() is called after COMMIT, in the thread of the caller, with the intents that a step of a
 * transaction has made: hints for the queue, which may be lost.
 */
void worker_observe(struct worker *store,
    void (*intents_committed)(void *context, const struct intent *intents, size_t count), void *context);

struct taken_traces; /* store/indexes/taken_traces.h */

/* reconcile_keys adds the traces of the intents that it removes to these; borrowed. NULL, as at first: it does not. */
void worker_collect_traces(struct worker *store, struct taken_traces *traces);

#endif
