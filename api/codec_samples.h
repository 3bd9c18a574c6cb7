/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_samples.h - hot partitions as messages.
 */
#ifndef API_CODEC_SAMPLES_H
#define API_CODEC_SAMPLES_H

#include "api/codec.h"
#include "domain/operations/operation.h"
#include "tavola/v1/admin_service.pb-c.h"

/* Decode which partitions are asked for. INVALID_INPUT names the field. The texts borrow the request. */
MUST_USE enum status codec_samples_request_decode(
    const Tavola__V1__ListHotPartitionsRequest *request, struct operation_samples *out, struct error *err);

/* Append the fields of a ListHotPartitionsResponse. */
void codec_samples_write(struct buf *out, const struct outcome_samples *samples, struct arena *arena);

#endif
