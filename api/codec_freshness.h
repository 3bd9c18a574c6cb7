/* SPDX-License-Identifier: Apache-2.0 */
/* codec_freshness.h - consistency tokens as text, and the freshness that a look-up requires. */
#ifndef API_CODEC_FRESHNESS_H
#define API_CODEC_FRESHNESS_H

#include "api/codec.h"
#include "domain/intents/consistency.h"
#include "domain/token.h"
#include "tavola/v1/index_service.pb-c.h"

/* Encode a consistency token. Equal values have equal texts. */
struct str codec_freshness_token(
    const struct consistency *consistency, const struct token_key *key, struct arena *arena);

/*
 * Decode the required freshness. Empty tokens are skipped: they belong to writes that left nothing open.
 * INVALID_INPUT names the field.
 */
MUST_USE enum status codec_freshness_decode(const Tavola__V1__Freshness *message, const struct token_key *key,
    struct arena *arena, struct freshness *out, struct error *err);

#endif
