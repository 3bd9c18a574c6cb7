/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - a 64-bit digest of bytes: equal bytes, equal digest, on every machine and for ever (digests are
 * stored). Fast, and not secret: whoever wants two texts of one digest can make them.
 */
#ifndef DOMAIN_DIGEST_H
#define DOMAIN_DIGEST_H

#include <stdint.h>

#include "base/str.h"

/* seed: 0, or the digest of what came before. */
uint64_t digest_of(uint64_t seed, struct str bytes);

#endif
