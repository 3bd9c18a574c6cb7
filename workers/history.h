/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - stores in Redis, for the worker's next start, the latest point of the database's
 * history that the worker has seen: see store/connection/remembered.h.
 */
#ifndef WORKERS_HISTORY_H
#define WORKERS_HISTORY_H

#include "workers/worker.h"

enum { HISTORY_EVERY_MS = 1000 };

/*
 * Read the hint from Redis, if no call has done so. If Redis cannot be reached, history_pass tries
 * again.
 */
void history_recall(struct worker_shared *shared, struct queue *queue);

/* Every HISTORY_EVERY_MS: read the point that the database has reached, and store it in Redis. */
void history_pass(struct worker_ctx *ctx);

#endif
