/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_index.h - declarations of indexes, their status, and look-ups.
 */
#ifndef API_CODEC_INDEX_H
#define API_CODEC_INDEX_H

#include "api/codec_entity.h"
#include "domain/catalogue/catalogue.h"
#include "domain/operations/operation.h"
#include "tavola/v1/index_service.pb-c.h"

/*
 * Decode a required declaration into everything that a caller declares, with `definition`. A field that is not
 * supported yet is refused by name.
 */
MUST_USE enum status codec_index_decode(
    const Tavola__V1__Index *message, struct arena *arena, struct index *out, struct error *err);

/* Decode the new consistency. INVALID_INPUT: it is neither STRONG nor EVENTUAL. */
MUST_USE enum status codec_index_update_decode(
    const Tavola__V1__UpdateIndexRequest *message, enum index_consistency *out, struct error *err);

/* The Index message of a stored declaration; NULL if the bytes are not a stored declaration. */
Tavola__V1__Index *codec_index_message(struct str definition, struct arena *arena);

Tavola__V1__IndexStatus *codec_index_status_message(const struct index_view *view, struct arena *arena);
Tavola__V1__Lag *codec_index_lag_message(const struct lag *lag, struct arena *arena);

/* Decode a look-up without its page and its freshness. */
/*
 * Decode values of the parts of an index, and the range of the part behind them; range NULL: there is none.
 */
MUST_USE enum status codec_index_equals_decode(Tavola__V1__Value *const *equals, size_t count,
    struct arena *arena, struct operation_lookup *out, struct error *err);
MUST_USE enum status codec_index_range_decode(const Tavola__V1__ValueRange *message, const char *field,
    struct arena *arena, struct value_range *out, struct error *err);

MUST_USE enum status codec_index_lookup_decode(const Tavola__V1__LookupIndexRequest *request,
    struct arena *arena, struct operation_lookup *out, struct error *err);

/*
 * The bytes that a page token of this look-up is bound to: the request without the page, the freshness (so that later
 * pages need not wait again) and the name of the index.
 */
struct str codec_index_lookup_identity(const Tavola__V1__LookupIndexRequest *request, struct arena *arena);

#endif
