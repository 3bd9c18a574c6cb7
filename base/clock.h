/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the two clocks. Pure code gets times as arguments.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/*
 * 100 ns ticks since 1601-01-01T00:00:00Z: the unit of Timestamp and DateTime inside the program.
 */
int64_t clock_ticks(void);

/* Microseconds that never decrease; only differences have a meaning. */
int64_t clock_monotonic_us(void);

/* Convert a time or a duration of at least 0 us into the system's form. */
struct timespec clock_timespec(int64_t us);

/* Sleep for this time, or until a signal is handled. */
void clock_sleep(int64_t us);

#endif
