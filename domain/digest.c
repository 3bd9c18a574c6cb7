/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - MurmurHash64A, eight little-endian bytes at a time: it runs over every projected
 * property of every write.
 */
#include "domain/digest.h"

#include <endian.h>
#include <string.h>

static const uint64_t multiplier = UINT64_C(0xc6a4a7935bd1e995);
static const int shift = 47;

static uint64_t read_word(const char *bytes, size_t count)
{
    uint64_t word = 0;

    memcpy(&word, bytes, count);
    return le64toh(word);
}

uint64_t digest_of(uint64_t seed, struct str bytes)
{
    uint64_t digest = seed ^ ((uint64_t)bytes.len * multiplier);
    size_t at = 0;

    for (; bytes.len - at >= 8; at += 8) {
        uint64_t word = read_word(bytes.data + at, 8) * multiplier;

        word = (word ^ word >> shift) * multiplier;
        digest = (digest ^ word) * multiplier;
    }
    if (at < bytes.len)
        digest = (digest ^ read_word(bytes.data + at, bytes.len - at)) * multiplier;
    digest = (digest ^ digest >> shift) * multiplier;
    return digest ^ digest >> shift;
}
