/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - FNV-1a, 64 bits: spreads short names over slots. The hash never changes, since the
 * buckets of stored rows depend on it. It is not secret: an attacker can find two names with the
 * same hash. For long contents domain/digest.h is faster.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#include "base/str.h"

/* The hash of an empty text, with which every hash begins. */
#define HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/* Add one byte to the hash. */
static inline uint64_t hash_byte(uint64_t hash, uint8_t byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

/* Add a number to the hash: its eight bytes, the lowest first. */
static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = hash_byte(hash, (uint8_t)(number >> shift));
    return hash;
}

/* Add bytes to the hash. Their length is not added: "a", "bc" and "ab", "c" have the same hash. */
static inline uint64_t hash_bytes(uint64_t hash, struct str bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        hash = hash_byte(hash, (uint8_t)bytes.data[i]);
    return hash;
}

/*
 * The slot of a text, 0 to slots - 1. If `secret` is random bits that no caller knows, no caller
 * can choose a slot.
 */
static inline int hash_slot(uint64_t secret, struct str text, int slots)
{
    uint64_t hash = hash_bytes(hash_number(HASH_EMPTY, secret), text);

    return (int)((hash ^ hash >> 32) % (uint64_t)slots);
}

#endif
