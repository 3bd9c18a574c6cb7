/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticks.c - see the header. A Timestamp's nanos always count forward, also before 1970, so dropping
 * what is finer than a tick moves towards the past.
 */
#include "domain/ticks.h"

enum { NANOS_PER_TICK = 100, NANOS_PER_SECOND = 1000000000, TICKS_PER_US = 10 };

static const int64_t first_second = -11644473600; /* 1601-01-01T00:00:00Z, in seconds since 1970 */
static const int64_t last_second = 253402300799;  /* 9999-12-31T23:59:59Z */

bool ticks_from_timestamp(int64_t seconds, int32_t nanos, int64_t *out)
{
    if (seconds < first_second || seconds > last_second || nanos < 0 || nanos >= NANOS_PER_SECOND)
        return false;
    *out = (seconds - first_second) * TICKS_PER_SECOND + nanos / NANOS_PER_TICK;
    return true;
}

bool ticks_from_expiry(int64_t seconds, int32_t nanos, int64_t *out)
{
    if (!ticks_from_timestamp(seconds, nanos, out))
        return false;
    *out = *out == 0 ? 1 : *out;
    return true;
}

void ticks_to_timestamp(int64_t ticks, int64_t *seconds, int32_t *nanos)
{
    *seconds = ticks / TICKS_PER_SECOND + first_second;
    *nanos = (int32_t)(ticks % TICKS_PER_SECOND) * NANOS_PER_TICK;
}

int64_t ticks_from_unix_us(int64_t us)
{
    return us * TICKS_PER_US - first_second * TICKS_PER_SECOND;
}
