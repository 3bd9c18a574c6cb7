/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_codec.h - the stored form of a declaration, as the catalogue keeps it.
 *
 * It holds what the caller declared, and of what is assigned later (ids, state, account) only the id of a copy rule's
 * source table, which is 0 before.
 * Equal declarations have equal bytes.
 */
#ifndef DOMAIN_INDEXES_INDEX_CODEC_H
#define DOMAIN_INDEXES_INDEX_CODEC_H

#include <stdbool.h>

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"

struct str index_codec_encode(const struct index *index, struct arena *arena);

/*
 * Fill name, source_name, shape, place, both keys, projection, filter, consistency, on_violation
 * and copies; all other members of out are unchanged. Strings borrow the bytes; the compiled
 * filter lies in the arena. false: the bytes are not a declaration, and out is undefined.
 */
bool index_codec_decode(struct str bytes, struct arena *arena, struct index *out);

#endif
