/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what a worker counts, and the text of its metrics. docs/operations.md explains each.
 */
#ifndef WORKERS_METRICS_H
#define WORKERS_METRICS_H

#include "base/metrics.h"

struct worker_report;
struct worker_shared;

enum worker_counter {
    WORKER_CLAIMED,        /* messages taken from the queue */
    WORKER_POLLED,         /* intents taken from PostgreSQL */
    WORKER_RECONCILED,     /* keys */
    WORKER_STEPPED,        /* steps of transactions */
    WORKER_COPY_CHECKED,   /* dependents of copy rules */
    WORKER_VISITED,        /* turns of visits of sources */
    WORKER_COPIED,         /* dependents whose copies were written */
    WORKER_RETRIED,        /* failures that are tried again later */
    WORKER_BURIED,         /* dead letters made */
    WORKER_RELEASED,       /* messages that were not done, and not by fault of the work */
    WORKER_RELAYED,        /* intents published by the relay */
    WORKER_EFFECTS_DONE,   /* effects of steps outside the database */
    WORKER_EFFECTS_FAILED, /* attempts at them that failed */
    WORKER_CHUNKS_REMOVED, /* of blobs, by the collector */
    WORKER_STRAYS_REMOVED, /* objects, from chunk stores */
    WORKER_STRAYS_FAILED,
    WORKER_COUNTERS
};

void metrics_count(struct worker_shared *shared, enum worker_counter counter, size_t more);

/* Fill everything except the time since the start. */
void metrics_report(struct worker_shared *shared, struct worker_report *out);

/* A metrics_collect_fn; context: a struct worker_shared. */
void metrics_collect_worker(void *context, struct buf *out);

#endif
