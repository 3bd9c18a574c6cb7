/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - a worker's connection to PostgreSQL. What workers do with it stands in the headers *_work.h, reconcile.h
 * and sweep.h of the rooms beside: each function there is one short transaction, or a few that may each be the last,
 * so a crash between any two leaves work that another worker carries on.
 *
 * A worker is a connection with its catalogue; it belongs to one thread, connects by itself and
 * again after a loss. Every function returns STATUS_UNAVAILABLE when there is no database (at most once a
 * second it tries to connect) and changes nothing then.
 */
#ifndef STORE_SESSION_WORKER_H
#define STORE_SESSION_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/intents/intent.h"
#include "domain/intents/queue_control.h"
#include "store/session/remembered.h"

struct worker;
struct shared_catalogue;

/* See pg_allow_data_loss. */
void worker_allow_data_loss(bool allowed);

/* worker: the name that shows in leases and timelines. Does not connect yet. */
MUST_USE enum status worker_open(
    const char *postgres, const char *worker, struct worker **out, struct error *err);
void worker_close(struct worker *store);

/* Notice restores of the database by what this remembers; borrowed, shared by the worker's threads. */
void worker_remember(struct worker *store, struct remembered *remembered);

/* Share what is read of the catalogue; borrowed, the same for all of the worker's threads. */
void worker_share_catalogue(struct worker *store, struct shared_catalogue *catalogue);

/* Look how far the database has come: what a new connection does too, for what is remembered to be recent. */
MUST_USE enum status worker_look_at_history(struct worker *store, struct error *err);

/*
 * Which connection to the database this is: another number than before after each reconnect. Reconciles do not wait for
 * the disk, so a caller that remembers finished intents must forget them then.
 */
int64_t worker_connection(const struct worker *store);

/*
 * To be called after COMMIT, from the store's own thread, with the intents that a transaction's step has
 * caused: hints for the queue, lost without harm.
 */
void worker_observe(struct worker *store,
    void (*intents_committed)(void *context, const struct intent *intents, size_t count), void *context);

#endif
