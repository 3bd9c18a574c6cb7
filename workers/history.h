/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - how far this worker has seen the database come, kept in Redis over a restart: see
 * store/session/remembered.h.
 */
#ifndef WORKERS_HISTORY_H
#define WORKERS_HISTORY_H

#include "workers/worker.h"

enum { HISTORY_EVERY_MS = 1000 };

/* Ask Redis for the hint, if that has not been done; a Redis that cannot be reached is asked again by history_pass. */
void history_recall(struct worker_shared *shared, struct queue *queue);

/* Every HISTORY_EVERY_MS: look at the database, and keep in Redis how far it has come. */
void history_pass(struct worker_ctx *ctx);

#endif
