/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.h - how the store runs each kind of operation: its lane and its function, one row per
 * kind. Facts about kinds that do not depend on the store are in
 * domain/operations/operation_kinds.h.
 */
#ifndef STORE_ROUTES_H
#define STORE_ROUTES_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

enum lane_kind {
    LANE_READ,  /* reads by key: many share one statement */
    LANE_WRITE, /* writes: many share one transaction */
    /* look-ups and pages that may be short: many share one flight. No row names this lane */
    LANE_SHORT,
    /* writes of many entities or bytes, of one account in each transaction. No row names this lane */
    LANE_LARGE,
    /* chunks of imports and blobs, pages of scans, views of indexes, which count: it gives way to the lanes above */
    LANE_BULK,
    /* chunks of blobs, if they may be in another store: its threads wait for that store. Without one: LANE_BULK */
    LANE_BLOB,
    LANE_PAGE,   /* pages, look-ups, lists, jobs: each runs by itself */
    LANE_CHANGE, /* changes of the catalogue, which may wait for the write fence */
    LANE_LOCKED, /* writes whose rows others have locked; from the other lanes of writes. No row names this lane */
    LANE_COUNT,
    LANE_NONE, /* the kind always waits first, and then becomes another kind: waiters.h */
};

struct route {
    enum lane_kind lane;

    /*
     * Gives one operation its outcome, in LANE_PAGE, LANE_CHANGE, LANE_BULK and LANE_BLOB. The other lanes give
     * their batches to read_batch_run and write_batch_run.
     */
    void (*run)(struct session *session, struct operation *operation);
    void (*run_observed)(
        struct session *session, struct operation *operation, const struct commit_observer *observer);
};

const struct route *routes_find(enum operation_kind kind);

#endif
