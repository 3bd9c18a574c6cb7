/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticks.h - times inside the program: 100 ns ticks since 1601-01-01T00:00:00Z.
 */
#ifndef DOMAIN_TICKS_H
#define DOMAIN_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#define TICKS_PER_SECOND INT64_C(10000000)
#define TICKS_MAX INT64_C(2650467743999999999) /* 9999-12-31T23:59:59.9999999Z */

/* From and to a google.protobuf.Timestamp; finer than 100 ns is truncated towards the past. */
/* false: outside 1601..9999 */
bool ticks_from_timestamp(int64_t seconds, int32_t nanos, int64_t *out);
void ticks_to_timestamp(int64_t ticks, int64_t *seconds, int32_t *nanos);

/*
 * The same for the time at which an entity expires. Tick 0 means "never", so the first tick becomes the next one; both
 * lie in the past.
 */
bool ticks_from_expiry(int64_t seconds, int32_t nanos, int64_t *out);

/* From microseconds since 1970 (PostgreSQL's clock). */
int64_t ticks_from_unix_us(int64_t us);

#endif
