/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_size.h - how many messages a consumer claims at once: as many as take it some milliseconds.
 * Work that comes meanwhile waits for a claim, or for 100 ms of it (workers/batch.c), so claims of slow work are
 * small; small claims of fast work would cost a round trip to Redis each. Pure.
 */
#ifndef DOMAIN_INTENTS_CLAIM_SIZE_H
#define DOMAIN_INTENTS_CLAIM_SIZE_H

#include <stddef.h>
#include <stdint.h>

enum {
    CLAIM_TARGET_US = 10000,
    MIN_CLAIM = 1,
};

/*
 * The number for the next claim, after one of `size` brought `taken` messages, at least one, which
 * took elapsed_us. Up to `max`; MIN_CLAIM or more if max allows it.
 *
 * It becomes smaller if a claim took more than twice CLAIM_TARGET_US, and twice as large if a full
 * one took less than half of that time.
 */
size_t claim_size_next(size_t size, size_t taken, int64_t elapsed_us, size_t max);

#endif
