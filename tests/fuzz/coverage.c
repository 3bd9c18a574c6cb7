/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.c - see the header. The compiler calls __sanitizer_cov_trace_pc in every block of the libraries; pairs
 * of successive blocks are counted, and counts compared by powers of two. This file itself is not instrumented.
 */
#include "tests/fuzz/coverage.h"

#include <stdint.h>
#include <string.h>

enum { PLACES = 1 << 16, WORD = sizeof(uint64_t) };

static uint8_t counts[PLACES] __attribute__((aligned(WORD)));
static uint8_t seen[PLACES];
static uintptr_t before;
static size_t reached;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    uintptr_t here = (uintptr_t)__builtin_return_address(0);
    uint8_t *count = &counts[(here ^ here >> 16 ^ before << 1) % PLACES];

    *count = (uint8_t)(*count + (*count < UINT8_MAX));
    before = here;
}

void coverage_start(void)
{
    memset(counts, 0, sizeof(counts));
    before = 0;
}

/* 1, 2, 3, 4-7, 8-15, ...: each a bit. */
static uint8_t class_of(uint8_t count)
{
    int bit = count < 4 ? count - 1 : 31 - __builtin_clz(count) + 1;

    return (uint8_t)(1U << (bit < 8 ? bit : 7));
}

bool coverage_is_new(void)
{
    bool is_new = false;

    for (size_t i = 0; i < PLACES; i += WORD) {
        uint64_t word;

        memcpy(&word, counts + i, WORD);
        for (size_t k = i; word != 0 && k < i + WORD; k++) {
            if (counts[k] == 0 || (seen[k] & class_of(counts[k])))
                continue;
            reached += seen[k] == 0;
            seen[k] |= class_of(counts[k]);
            is_new = true;
        }
    }
    return is_new;
}

size_t coverage_count(void)
{
    return reached;
}
