/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - FNV-1a, 64 bits: spreads short names over slots. It is stable for ever (buckets of stored rows come from
 * it), and it is not secret: an attacker can make two names with one hash.
 *
 * domain/digest.h is the one for contents: faster for long texts.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#include "base/str.h"

/* The hash of nothing: what a hash begins with. */
#define HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/* The hash of what `hash` stands for, followed by one byte. */
static inline uint64_t hash_byte(uint64_t hash, uint8_t byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

/* The same for a number: its eight bytes, the lowest first. */
static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = hash_byte(hash, (uint8_t)(number >> shift));
    return hash;
}

/* The same for bytes. Their length is not part of the hash: "a", "bc" and "ab", "c" have one hash. */
static inline uint64_t hash_bytes(uint64_t hash, struct str bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        hash = hash_byte(hash, (uint8_t)bytes.data[i]);
    return hash;
}

/* A slot of `slots` for the text, by a hash that no caller can make if `secret` is random bits that no caller knows. */
static inline int hash_slot(uint64_t secret, struct str text, int slots)
{
    uint64_t hash = hash_bytes(hash_number(HASH_EMPTY, secret), text);

    return (int)((hash ^ hash >> 32) % (uint64_t)slots);
}

#endif
