/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - pauses between attempts: doubling, bounded, with jitter. Pure: the random bits are
 * the caller's.
 */
#ifndef DOMAIN_INTENTS_BACKOFF_H
#define DOMAIN_INTENTS_BACKOFF_H

#include <stdint.h>

struct backoff {
    int64_t first;   /* the longest pause after the first failure; any unit of time, above 0 */
    int64_t longest; /* the pause never grows beyond this */
};

/*
 * The pause after this many failures in a row (1 is the first), in the unit of struct backoff:
 * random, between half of the doubled pause and the whole, so that attempts that failed together
 * are not repeated together.
 */
int64_t backoff_pause(const struct backoff *backoff, int32_t failures, uint64_t random);

#endif
