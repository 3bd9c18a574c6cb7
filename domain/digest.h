/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - a 64-bit digest of bytes: equal bytes have equal digests on every machine and in every
 * version (digests are stored). It is fast and not cryptographic: two texts with equal digests can
 * be constructed.
 */
#ifndef DOMAIN_DIGEST_H
#define DOMAIN_DIGEST_H

#include <stdint.h>

#include "base/str.h"

/* seed: 0, or the digest of the preceding bytes. */
uint64_t digest_of(uint64_t seed, struct str bytes);

#endif
