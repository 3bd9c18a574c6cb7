/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the two clocks. Pure code gets times as arguments instead.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* 100 ns ticks since 1601-01-01T00:00:00Z: the unit of Timestamp and DateTime inside the program. */
int64_t clock_ticks(void);

/* Microseconds that never go back; only differences mean something. */
int64_t clock_monotonic_us(void);

#endif
