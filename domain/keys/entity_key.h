/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_key.h - the address of an entity inside a table, and the rules for its two keys.
 *
 * Pure: no I/O, no clock, no allocation. A key borrows the bytes it was made from.
 */
#ifndef DOMAIN_KEYS_ENTITY_KEY_H
#define DOMAIN_KEYS_ENTITY_KEY_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct entity_key {
    struct str partition; /* UTF-8, 0..LIMIT_KEY_BYTES bytes, empty is legal */
    struct str row;       /* same */
};

/*
 * Check both parts and join them into a key.
 *
 * STATUS_OK
 * STATUS_INVALID       INVALID_INPUT: not UTF-8; PROPERTY_VALUE_TOO_LARGE: over LIMIT_KEY_UNITS or
 *                      LIMIT_KEY_BYTES
 * STATUS_OUT_OF_RANGE  OUT_OF_RANGE_INPUT: one of / \ # ? or U+0000-U+001F, U+007F-U+009F
 *
 * The message names the key, the offset and what is allowed. out is untouched on failure.
 */
MUST_USE enum status entity_key_parse(
    struct str partition, struct str row, struct entity_key *out, struct error *err);

/* Compare by partition key, then row key, by bytes: the order of pages and of locks. */
int entity_key_compare(const struct entity_key *a, const struct entity_key *b);

/*
 * The bucket of a partition, 0..BUCKETS-1, by which work is distributed and leased: a fixed pure
 * function of the home table's id and the partition key. It can never be changed; otherwise keys
 * would exist twice. It is FNV-1a over the eight little-endian bytes of the id and the bytes of the
 * key, folded; tests/unit/domain/keys/test_entity_key.c has test vectors.
 */
int16_t entity_key_bucket(int64_t home_table_id, struct str partition_key);

#endif
