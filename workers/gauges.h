/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauges.h - the gauges of indexes and dead letters in a worker's metrics. They are values of the
 * whole service, so only the worker that holds bucket range 0 shows them.
 */
#ifndef WORKERS_GAUGES_H
#define WORKERS_GAUGES_H

#include <pthread.h>

#include "base/buf.h"
#include "store/background/gauges.h"

struct worker_ctx;

/* One thread reads the gauges from the database, another prints them. */
struct told_gauges {
    pthread_mutex_t mutex; /* guards the other members */
    bool known;
    struct gauges gauges;
};

void told_gauges_init(struct told_gauges *told);
void told_gauges_cleanup(struct told_gauges *told);

/*
 * Read the gauges if this worker holds bucket range 0; otherwise it shows none from now on. If
 * reading fails, the gauges that were read before stay.
 */
void told_gauges_pass(struct worker_ctx *ctx);

/* Print the text for Prometheus: the head of every family, and the values if they are known. */
void told_gauges_collect(struct told_gauges *told, struct buf *out);

#endif
