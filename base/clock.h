/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the two clocks. Pure code gets times as arguments instead.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* 100 ns ticks since 1601-01-01T00:00:00Z: the unit of Timestamp and DateTime inside the program. */
int64_t clock_ticks(void);

/* Microseconds that never go back; only differences mean something. */
int64_t clock_monotonic_us(void);

/* A time or a duration of at least 0 us in the system's form. */
struct timespec clock_timespec(int64_t us);

/* Let the thread sleep for that time, or until a signal is handled. */
void clock_sleep(int64_t us);

#endif
