/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_size.c - see the header.
 */
#include "domain/intents/claim_size.h"

size_t claim_size_next(size_t size, size_t taken, int64_t elapsed_us, size_t max)
{
    size_t next = size;

    if (elapsed_us > 2 * CLAIM_TARGET_US)
        next = (size_t)((int64_t)taken * CLAIM_TARGET_US / elapsed_us);
    else if (taken >= size && elapsed_us < CLAIM_TARGET_US / 2)
        next = 2 * size;
    if (next < MIN_CLAIM)
        next = MIN_CLAIM;
    return next < max ? next : max;
}
