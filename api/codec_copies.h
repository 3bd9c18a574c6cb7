/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_copies.h - the copy rule of an index.
 */
#ifndef API_CODEC_COPIES_H
#define API_CODEC_COPIES_H

#include "api/codec.h"
#include "domain/operations/index_operations.h"
#include "tavola/v1/index_service.pb-c.h"

/*
 * Decode the rule of a declaration, whose shape is in out, into out->copies, and fill the members that follow: place,
 * consistency, partition key and projection. STATUS_INVALID: INVALID_INPUT, also if the declaration says otherwise of
 * these, or has what an index with a rule cannot have.
 */
MUST_USE enum status codec_copies_decode(
    const Tavola__V1__Index *message, struct arena *arena, struct index *out, struct error *err);

/* NULL: the index has no rule. */
Tavola__V1__CopyRule *codec_copies_message(const struct copy_rule *rule, struct arena *arena);

Tavola__V1__CopyStatus *codec_copies_status_message(const struct copies_view *view, struct arena *arena);

#endif
