/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_codec.h - the stored form of a declaration, as the catalogue keeps it.
 *
 * It holds what the caller declared, and nothing that is assigned later (ids, state, account).
 * Equal declarations have equal bytes.
 */
#ifndef DOMAIN_INDEXES_INDEX_CODEC_H
#define DOMAIN_INDEXES_INDEX_CODEC_H

#include <stdbool.h>

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"

struct str index_codec_encode(const struct index *index, struct arena *arena);

/*
 * Fill name, source_name, shape, place, both keys, projection, filter, consistency and
 * on_violation; all other members of out are unchanged. Strings borrow the bytes; the compiled
 * filter lies in the arena. false: the bytes are not a declaration, and out is undefined.
 */
bool index_codec_decode(struct str bytes, struct arena *arena, struct index *out);

#endif
