/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - random bits for values that must differ between programs and connections. Do not
 * use them for secrets: account keys come from getrandom().
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/*
 * 64 random bits; if the kernel has none yet, the monotonic clock. Never blocks for long, never
 * fails.
 */
uint64_t random_bits(void);

#endif
