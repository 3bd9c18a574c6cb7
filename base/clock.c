/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - see the header.
 */
#include "base/clock.h"

enum { TICKS_PER_SECOND = 10000000, US_PER_SECOND = 1000000, NS_PER_US = 1000 };

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
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / NS_PER_US;
}

struct timespec clock_timespec(int64_t us)
{
    return (struct timespec){ .tv_sec = (time_t)(us / US_PER_SECOND),
        .tv_nsec = (long)(us % US_PER_SECOND * NS_PER_US) };
}

void clock_sleep(int64_t us)
{
    const struct timespec duration = clock_timespec(us);

    nanosleep(&duration, NULL);
}
