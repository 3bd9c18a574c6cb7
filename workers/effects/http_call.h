/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_call.h - the effect of an http_call step: one request to a host that the operator allows.
 *
 * Only the receiver knows whether an earlier request of the step has arrived, so the effect is repeated, and each
 * request of the step has the same Idempotency-Key (guard G16 is the receiver's).
 */
#ifndef WORKERS_EFFECTS_HTTP_CALL_H
#define WORKERS_EFFECTS_HTTP_CALL_H

#include "domain/transactions/effect.h"

struct worker_ctx;

/*
 * The receipt has the answer's code, and size and digest of its body. ctx->failure_cause is set if the call fails.
 *
 * STATUS_PRECONDITION  HTTP_CALL_REFUSED: a redirection, or an answer that says that a repeat has no success;
 *                      STEP_NOT_CONFIGURED: the host is not in TAVOLA_HTTP_CALL_HOSTS
 * STATUS_INTERNAL      HTTP_CALL_FAILED: any other answer, or none
 * STATUS_CANCELLED     the worker stops
 */
MUST_USE enum status http_call_perform(struct worker_ctx *ctx, const struct effect *effect,
    struct arena *arena, struct receipt *receipt, struct error *err);

#endif
