/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the one door to PostgreSQL for requests: operations go in, outcomes come back.
 *
 * store_submit never blocks and may be called from any thread. Operations wait in lanes - point reads,
 * writes, pages, catalogue changes - each served by threads with connections of their own, so slow work
 * never holds up point operations. What arrived while the previous round trip was under way forms the
 * next batch. Operations that wait for something (OPERATION_JOB_WAIT, OPERATION_TRANSACTION_WAIT, reads with
 * wait_for_transaction) are state, not threads.
 *
 * Overload: a lane that is full refuses with STATUS_LIMIT / SERVER_BUSY at once. No database: operations
 * are refused with STATUS_UNAVAILABLE / STORE_UNAVAILABLE after a short wait; nothing happened. A commit
 * whose answer was lost is resolved through its marker (guard G6) and answered as what it was, or as
 * STATUS_MAYBE_DONE / OUTCOME_UNKNOWN.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/catalogue/quotas.h"
#include "domain/intents/intent.h"
#include "domain/operations/operation.h"
#include "store/access/access_snapshot.h"
#include "store/lanes/statistics.h"
#include "store/session/remembered.h"

struct store;

struct store_options {
    const char *postgres;          /* a libpq connection string */
    bool allow_data_loss;          /* true: as pg_allow_data_loss, for the whole process */
    int read_threads;              /* 1..16 */
    int write_threads;             /* 1..16 */
    int page_threads;              /* 1..16 */
    int max_waiting;               /* operations per lane before it refuses */
    int batch_operations;          /* the most operations of one batch, 1..1024 */
    int batch_bytes;               /* the most property bytes of one batch */
    bool connect_late;             /* true: a thread connects with its first batch, not when it starts */
    struct remembered *remembered; /* borrowed; NULL: restores are not noticed */
    struct quotas quotas;
    struct wrapping_keys wrapping_keys;

    /* Called after COMMIT, from a lane's thread, with the intents of one batch: hints for the queue, lost
     * without harm. It must not block. */
    void (*intents_committed)(void *context, const struct intent *intents, size_t count);
    void *context;

    /* May be NULL. A thread is about to call done() of several operations in a row (true), or has (false). */
    void (*answering)(bool begins);

    /*
     * Called twice a second while the database answers, and after store_look_at_access: with a snapshot, now the
     * callee's, when accounts or tables have changed; with NULL when the one before still holds.
     */
    void (*access_confirmed)(void *context, struct access_snapshot *snapshot);

    /* May be NULL. The keys of accounts cannot be opened with the wrapping keys, and never could since the start. */
    void (*accounts_unreadable)(void *context, const char *why);

    /*
     * May be NULL. Accounts and tables have been looked at, or could not be: requests made before began_us
     * (clock_monotonic_us) have their answer. From the monitor, so it must not block.
     */
    void (*access_looked)(void *context, int64_t began_us);

    /* Called twice a second while the database answers; may be NULL. */
    void (*queues_mapped)(void *context, const struct queue_map *map);

    /* Called when the database becomes reachable or unreachable, once per change. */
    void (*availability_changed)(void *context, bool available, const char *why);
};

/*
 * Start the lanes. It needs no database yet and retries by itself; never NULL. A database with another schema
 * version than the program's is reported as unavailable, the message naming `tavola migrate`.
 */
struct store *store_open(const struct store_options *options);

/*
 * The program is about to stop: from now on operations that wait for something to finish are answered with
 * the state as it is, so that they do not hold up the end; all others go on.
 */
void store_drain(struct store *store);

/* Answer what waits with UNAVAILABLE / SERVER_DRAINING, finish what runs, join the threads. */
void store_close(struct store *store);

void store_submit(struct store *store, struct operation *operation);

/*
 * For callers that submit many at once: store_collect is store_submit, but the operation may wait for the next
 * store_run, which any thread may call. store_run may run reads in the caller's thread, outcome and done()
 * included; it waits a few milliseconds for the database at most.
 */
void store_collect(struct store *store, struct operation *operation);
void store_run(struct store *store);

bool store_is_available(const struct store *store);

/*
 * Look at accounts and tables soon: at once, but not within 100 ms of the look before. All calls meanwhile share
 * one look, which access_looked ends. Never blocks.
 */
void store_look_at_access(struct store *store);

void store_read_statistics(struct store *store, struct store_statistics *out);

/*
 * The key that signs page tokens: one for all servers of a database, made by the first migration.
 * STATUS_UNAVAILABLE until the database has been reached.
 */
MUST_USE enum status store_token_key(struct store *store, uint8_t out[32], struct error *err);

#endif
