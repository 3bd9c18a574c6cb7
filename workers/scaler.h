/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaler.h - the external scaler that KEDA asks how many workers there should be: gRPC on an
 * address of its own, for one metric, how many seconds the indexes are behind over all bucket
 * ranges.
 *
 *   IsActive        whether any intent is open
 *   StreamIsActive  the same, told again when it changes
 *   GetMetricSpec   the metric with its target (targetLagSeconds of the trigger)
 *   GetMetrics      its value now
 *
 * Until the lag is known, and while the database cannot be reached, calls end as UNAVAILABLE: KEDA
 * then keeps the number of workers, or uses its fallback.
 */
#ifndef WORKERS_SCALER_H
#define WORKERS_SCALER_H

#include "base/error.h"
#include "domain/operations/operation.h"

struct scaler;

/*
 * Listen. The address in use is logged.
 *
 * STATUS_UNAVAILABLE  the address cannot be used; the message says why
 */
MUST_USE enum status scaler_start(const char *address, struct scaler **out, struct error *err);

/* Accepts NULL. */
void scaler_stop(struct scaler *scaler);

/* The lag is this from now on; NULL: it is not known. From any thread. */
void scaler_set_lag(struct scaler *scaler, const struct lag *lag);

/*
 * The thread that reads the lag every second for the worker's scaler; argument: its struct
 * worker_ctx.
 */
void *scaler_thread(void *argument);

#endif
