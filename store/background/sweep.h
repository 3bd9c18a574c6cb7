/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - removes expired entities and old rows, in bounded rounds.
 */
#ifndef STORE_BACKGROUND_SWEEP_H
#define STORE_BACKGROUND_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/connection/stalled_sessions.h"
#include "store/session/worker.h"

/* End sessions of this role whose program has stood still inside a transaction for STALLED_MS. */
MUST_USE enum status sweep_end_stalled(struct worker *store, struct stalled_sessions *out, struct error *err);

struct sweep_counts {
    int64_t expired, dead_rows, markers, transactions, requests, changes, audits, rates, claims, versions;
};

/* The ages, in seconds by the database's clock, from which rows are removed. */
struct sweep_ages {
    int64_t dead_row_s;
    int64_t transaction_s; /* since its end */
    int64_t request_s;     /* since it was decided */
    int64_t change_s;      /* since it was made */
    int64_t audit_s;       /* since it was made */
};

/*
 * Run one round: delete expired entities, by ordinary deletes with their intents; purge dead rows through the floor
 * (guard G3), commit markers of closed connections, finished transactions, request records, changes, audit records,
 * feeds that have ended, and what versions of the catalogue have changed that are far back. The work of a round is
 * bounded; *more says whether more rows can be removed now.
 */
MUST_USE enum status sweep_run(struct worker *store, const struct sweep_ages *ages,
    struct sweep_counts *counts, bool *more, struct error *err);

#endif
