/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.c - see the header.
 */
#include "domain/intents/backoff.h"

int64_t backoff_pause(const struct backoff *backoff, int32_t failures, uint64_t random)
{
    int64_t pause = backoff->first;

    for (int32_t i = 1; i < failures && pause < backoff->longest; i++)
        pause *= 2;
    if (pause > backoff->longest)
        pause = backoff->longest;
    return pause / 2 + (int64_t)(random % (uint64_t)(pause / 2 + 1));
}
