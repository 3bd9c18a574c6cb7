/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_renewal.h - one thread per worker that keeps what the consumers have in hand theirs while they work on it,
 * however long that takes: it renews before the visibility timeout ends. It shares no connection with the work.
 *
 * Efficiency only: who loses his messages to another worker does nothing wrong with them. A worker that stands still
 * renews nothing. Work that lasts twenty visibility timeouts is not renewed any more: it may be stuck.
 */
#ifndef WORKERS_LEASE_RENEWAL_H
#define WORKERS_LEASE_RENEWAL_H

#include "workers/worker.h"

/* Renew what is in hand now. */
void lease_renewal_pass(struct worker_ctx *ctx);

/* Passes until the worker stops; argument: a struct worker_ctx *. */
void *lease_renewal_thread(void *argument);

#endif
