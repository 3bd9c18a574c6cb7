/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - the smaller and the larger of two.
 */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include <stdint.h>

static inline int64_t numbers_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t numbers_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
