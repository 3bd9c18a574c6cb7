/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - see the header.
 */
#include "base/clock.h"

#include <time.h>

enum { TICKS_PER_SECOND = 10000000 };

/* Seconds from 1601-01-01 to 1970-01-01. */
static const int64_t unix_epoch_s = 11644473600;

int64_t clock_ticks(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ((int64_t)now.tv_sec + unix_epoch_s) * TICKS_PER_SECOND + now.tv_nsec / 100;
}

int64_t clock_monotonic_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
