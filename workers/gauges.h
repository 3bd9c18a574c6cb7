/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauges.h - the gauges of indexes and dead letters in a worker's metrics. They are of the whole service, so one
 * worker tells them: the one that holds lane 0.
 */
#ifndef WORKERS_GAUGES_H
#define WORKERS_GAUGES_H

#include <pthread.h>

#include "base/buf.h"
#include "store/background/gauges.h"

struct worker_ctx;

/* One thread reads them anew, another writes them out. */
struct told_gauges {
    pthread_mutex_t mutex; /* of the rest */
    bool known;
    struct gauges gauges;
};

void told_gauges_init(struct told_gauges *told);
void told_gauges_cleanup(struct told_gauges *told);

/* Look, if this worker is the one to tell; else it tells nothing. What a failure leaves is what was known before. */
void told_gauges_pass(struct worker_ctx *ctx);

/* The text for Prometheus: every family's head, and the values if they are known. */
void told_gauges_collect(struct told_gauges *told, struct buf *out);

#endif
