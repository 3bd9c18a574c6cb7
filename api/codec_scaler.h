/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_scaler.h - the messages of KEDA's external scaler (api/private/externalscaler.proto), for
 * the one metric that a worker offers: how many seconds the indexes are behind.
 */
#ifndef API_CODEC_SCALER_H
#define API_CODEC_SCALER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#define CODEC_SCALER_METRIC "lagSeconds"

/*
 * Read the target of a ScaledObjectRef: targetLagSeconds of the trigger's metadata, 1 to 86400; 5
 * if it is not there.
 *
 * STATUS_INVALID  the message is malformed, or the target is no such number
 */
MUST_USE enum status codec_scaler_read_target(
    struct str request, struct arena *arena, int64_t *out, struct error *err);

/*
 * Check a GetMetricsRequest.
 *
 * STATUS_INVALID  the message is malformed, or it asks for another metric
 */
MUST_USE enum status codec_scaler_check_question(struct str request, struct arena *arena, struct error *err);

/* Append an IsActiveResponse, a GetMetricSpecResponse, a GetMetricsResponse. */
void codec_scaler_write_active(bool is_active, struct buf *out);
void codec_scaler_write_spec(int64_t target_seconds, struct buf *out);
void codec_scaler_write_value(int64_t lag_us, struct buf *out);

#endif
