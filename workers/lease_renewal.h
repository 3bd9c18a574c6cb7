/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_renewal.h - one thread per worker that renews the claims of its consumers while they work,
 * before the visibility timeout ends. It shares no connection with the consumers.
 *
 * Renewal saves work, and correctness does not depend on it: a consumer that loses its messages to
 * another worker does no harm. A worker process that is stopped renews nothing. A claim is renewed
 * for twenty visibility timeouts at most, because its work may be stuck.
 */
#ifndef WORKERS_LEASE_RENEWAL_H
#define WORKERS_LEASE_RENEWAL_H

#include "workers/worker.h"

/* Renew the claims of all consumers once. */
void lease_renewal_pass(struct worker_ctx *ctx);

/* Passes until the worker stops; argument: a struct worker_ctx *. */
void *lease_renewal_thread(void *argument);

#endif
