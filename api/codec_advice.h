/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_advice.h - advice on indexes as messages.
 */
#ifndef API_CODEC_ADVICE_H
#define API_CODEC_ADVICE_H

#include "api/codec.h"
#include "domain/operations/operation.h"
#include "tavola/v1/index_service.pb-c.h"

/* Append the fields of an AdviseIndexesResponse. */
void codec_advice_write(struct buf *out, const struct outcome_samples *samples, struct arena *arena);

#endif
