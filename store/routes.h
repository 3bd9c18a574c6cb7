/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.h - how the store runs each kind of operation: the lane, and the function. One row a kind; the facts that do
 * not depend on the store are in domain/operations/operation_kinds.h.
 */
#ifndef STORE_ROUTES_H
#define STORE_ROUTES_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

enum lane_kind {
    LANE_READ,  /* point reads: many share one statement */
    LANE_WRITE, /* writes: many share one transaction */
    LANE_SHORT, /* look-ups and pages that may be short: many share one flight. No row of a kind names it */
    LANE_BULK, /* chunks of imports and pages of scans: it gives way to those above. No row of a kind names it */
    LANE_PAGE,   /* pages, look-ups, lists, jobs: each by itself, on sessions of their own */
    LANE_CHANGE, /* changes of the catalogue: they may wait for the write fence */
    LANE_COUNT,
    LANE_NONE, /* the kind always waits, and then becomes another kind: waiters.h */
};

struct route {
    enum lane_kind lane;

    /*
     * Gives one operation its outcome: one of the two in LANE_PAGE and LANE_CHANGE. The other lanes give their batches
     * to read_batch_run and write_batch_run.
     */
    void (*run)(struct session *session, struct operation *operation);
    void (*run_observed)(
        struct session *session, struct operation *operation, const struct commit_observer *observer);
};

const struct route *routes_find(enum operation_kind kind);

#endif
