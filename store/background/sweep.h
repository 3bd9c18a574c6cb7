/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - removes expired entities and old rows, in bounded rounds.
 */
#ifndef STORE_BACKGROUND_SWEEP_H
#define STORE_BACKGROUND_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct worker;

struct sweep_counts {
    int64_t expired, dead_rows, markers, transactions, requests, changes, audits, rates, claims, versions;
    int64_t blob_parts, blob_chunks;
};

/* The minimum ages of rows that are removed, in seconds by the database's clock. */
struct sweep_ages {
    int64_t dead_row_s;
    int64_t transaction_s; /* since the transaction ended */
    int64_t request_s;     /* since the request was decided */
    int64_t change_s;      /* since the change was made */
    int64_t audit_s;       /* since the record was made */
    int64_t chunk_s;       /* of bytes in a chunk store, since no content names the chunk */
};

/*
 * Run one round: delete expired entities, by ordinary deletes with their intents; raise the floor
 * and purge dead rows (guard G3); delete commit markers of closed connections, finished
 * transactions, request records, changes, audit records, feeds that have ended, old records of
 * catalogue changes, and what no blob points to any more. The work of a round is bounded; *more tells
 * whether more rows can be removed now.
 */
MUST_USE enum status sweep_run(struct worker *store, const struct sweep_ages *ages,
    struct sweep_counts *counts, bool *more, struct error *err);

#endif
