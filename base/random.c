/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.c - see the header.
 */
#include "base/random.h"

#include <sys/random.h>

#include "base/clock.h"

uint64_t random_bits(void)
{
    uint64_t bits;

    if (getrandom(&bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
        bits = (uint64_t)clock_monotonic_us();
    return bits;
}
