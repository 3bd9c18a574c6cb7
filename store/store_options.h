/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_options.h - the options of a store: threads, limits, and the functions through which it
 * reports.
 */
#ifndef STORE_STORE_OPTIONS_H
#define STORE_STORE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk_store.h"
#include "domain/catalogue/quotas.h"
#include "domain/intents/intent.h"
#include "store/access/access_snapshot.h"
#include "store/connection/remembered.h"

struct store_options {
    const char *postgres; /* a libpq connection string */
    bool allow_data_loss; /* as pg_allow_data_loss, for the whole process */
    int read_threads;     /* 1..16 */
    int write_threads;    /* 1..16; the same number and one more for large writes, and for bulk writes */
    int page_threads;     /* 1..16; of one account at once: there is one more */
    int max_waiting;      /* operations that one lane holds before it refuses more */
    int batch_operations; /* maximum number of operations of one batch, 1..1024 */
    int blob_threads;     /* 1..64; for chunks of one account at once: there is one more */
    int snapshot_seconds; /* how long a scan may hold a snapshot */
    int max_snapshots;    /* of scans, at once; 0: none */
    int batch_bytes;      /* maximum number of property bytes that the writes of one batch have */
    bool connect_late;    /* a thread connects with its first batch, not when it starts */
    struct remembered *remembered; /* borrowed; NULL: restores are not noticed */
    struct quotas quotas;
    const struct chunk_stores *chunks; /* borrowed; NULL: all chunks are in the database */
    struct wrapping_keys wrapping_keys;

    /*
     * Called after COMMIT, in a lane's thread, with the intents of one batch: hints for the queue,
     * which may be lost. It must not block.
     */
    void (*intents_committed)(void *context, const struct intent *intents, size_t count);
    void *context;

    /*
     * May be NULL. Called by a thread before (true) and after (false) it calls done() of several
     * operations in a row.
     */
    void (*answering)(bool begins);

    /*
     * Called twice a second while the database answers, and after store_look_at_access. snapshot:
     * if accounts or tables have changed, the new one, which the callee then owns; otherwise NULL.
     */
    void (*access_confirmed)(void *context, struct access_snapshot *snapshot);

    /*
     * May be NULL. Called if no wrapping key has been able to open the account keys since the
     * start.
     */
    void (*accounts_unreadable)(void *context, const char *why);

    /*
     * May be NULL. Called when a reading of accounts and tables has ended, successfully or not:
     * requests made before began_us (clock_monotonic_us) are done. Called by the monitor's thread,
     * so it must not block.
     */
    void (*access_looked)(void *context, int64_t began_us);

    /* Called twice a second while the database answers; may be NULL. */
    void (*queues_mapped)(void *context, const struct queue_map *map);

    /* Called when the database becomes reachable or unreachable, once per change. */
    void (*availability_changed)(void *context, bool available, const char *why);
};

#endif
