/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_options.h - how a store is opened: threads, limits, and the functions by which it reports.
 */
#ifndef STORE_STORE_OPTIONS_H
#define STORE_STORE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "domain/catalogue/quotas.h"
#include "domain/intents/intent.h"
#include "store/access/access_snapshot.h"
#include "store/session/remembered.h"

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

#endif
