/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_freshness.c - see the header.
 */
#include "api/codec_freshness.h"

#include "domain/limits.h"
#include "domain/reason.h"
#include "google/protobuf/duration.pb-c.h"

static enum status staleness_decode(
    const Google__Protobuf__Duration *message, struct freshness *out, struct error *err)
{
    if (!message)
        return STATUS_OK;
    if (message->seconds < 0 || message->nanos < 0 || message->nanos > 999999999 ||
        (message->seconds == 0 && message->nanos == 0) || message->seconds > INT64_MAX / 2000000)
        return reason_set(err, REASON_INVALID_INPUT,
            "freshness.max_staleness must be longer than zero; set freshness.latest for no staleness at all");
    out->has_max_staleness = true;
    out->max_staleness_us = message->seconds * 1000000 + (message->nanos + 999) / 1000;
    return STATUS_OK;
}

static enum status token_decode_at(const struct token_key *key, ProtobufCBinaryData text, size_t at,
    struct arena *arena, struct consistency *out, struct error *err)
{
    struct error why = { 0 };
    struct token token = { .purpose = TOKEN_CONSISTENCY, .query = STR_EMPTY };

    if (text.len <= LIMIT_TOKEN_BYTES &&
        token_decode(key, codec_str(text), arena, &token, &why) == STATUS_OK &&
        consistency_decode(token.first, arena, out))
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT,
        "freshness.at_least[%zu] is not a consistency token of this service, or was changed", at);
}

/*
 * Whether the token adds nothing: it is empty, since the write left nothing open, or equal to an earlier
 * token.
 */
static bool token_says_nothing_new(const Tavola__V1__Freshness *message, size_t at)
{
    struct str text = codec_str(message->at_least[at]);

    for (size_t i = 0; i < at; i++)
        if (str_equal(codec_str(message->at_least[i]), text))
            return true;
    return text.len == 0;
}

/* The bound is checked after each token, so tokens behind it are not decoded. */
static enum status tokens_decode(const Tavola__V1__Freshness *message, const struct token_key *key,
    struct arena *arena, struct freshness *out, struct error *err)
{
    for (size_t i = 0; i < message->n_at_least; i++) {
        if (token_says_nothing_new(message, i))
            continue;
        TRY(token_decode_at(key, message->at_least[i], i, arena, &out->at_least[out->at_least_count++], err));
        if (freshness_probes(out) > LIMIT_TOKEN_PROBES)
            return reason_set(err, REASON_INVALID_INPUT,
                "freshness.at_least[0..%zu] names %zu places where work may be open, allowed are %d: give "
                "the "
                "newest tokens",
                i, freshness_probes(out), LIMIT_TOKEN_PROBES);
    }
    return STATUS_OK;
}

enum status codec_freshness_decode(const Tavola__V1__Freshness *message, const struct token_key *key,
    struct arena *arena, struct freshness *out, struct error *err)
{
    struct freshness freshness = { .latest = message->latest };

    if (message->n_at_least > LIMIT_TOKENS)
        return reason_set(err, REASON_INVALID_INPUT, "freshness.at_least has %zu tokens, allowed are %d",
            message->n_at_least, LIMIT_TOKENS);
    freshness.at_least = ARENA_ARRAY(arena, struct consistency, message->n_at_least);
    TRY(tokens_decode(message, key, arena, &freshness, err));
    TRY(staleness_decode(message->max_staleness, &freshness, err));
    *out = freshness;
    return STATUS_OK;
}

struct str codec_freshness_token(
    const struct consistency *consistency, const struct token_key *key, struct arena *arena)
{
    const struct token token = {
        .purpose = TOKEN_CONSISTENCY,
        .query = STR_EMPTY,
        .first = consistency_encode(consistency, arena),
        .second = STR_EMPTY,
    };

    return token_encode(key, &token, arena);
}
