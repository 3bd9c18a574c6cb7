/*
 * numbers.h - the smaller and the larger of two.
 */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include <stdint.h>

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
