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

/* By partition, then row, by bytes: the order of pages and of locks. */
int entity_key_compare(const struct entity_key *a, const struct entity_key *b);

/*
 * The bucket of a partition: 0..BUCKETS-1, the unit of distribution and of leases. A fixed pure function
 * of the home table's id and the partition key; it can never be changed, else keys would appear twice.
 * FNV-1a over the eight little-endian bytes of the id and the key's bytes, folded; test vectors stand in
 * tests/unit/domain/keys/test_entity_key.c.
 */
int16_t entity_key_bucket(int64_t home_table_id, struct str partition_key);

#endif
