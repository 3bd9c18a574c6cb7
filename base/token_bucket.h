/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_bucket.h - a rate with a burst. The bucket is stored as the time at which it will be full
 * again, so it needs no refilling.
 *
 * All times have one unit, which the owner chooses. An amount is given as the time in which the
 * bucket gets it back: at a rate of R per second n tokens are n / R seconds. A bucket that is not
 * empty may be overdrawn; then nothing can be drawn until the debt is paid off.
 *
 * Not thread-safe: the owner has a lock.
 */
#ifndef BASE_TOKEN_BUCKET_H
#define BASE_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

/* All zero: the bucket is full. */
struct token_bucket {
    int64_t full_at;
};

/* Draw, even if the bucket is empty. */
static inline void token_bucket_overdraw(struct token_bucket *bucket, int64_t now, int64_t cost)
{
    bucket->full_at = (bucket->full_at < now ? now : bucket->full_at) + cost;
}

/*
 * Draw if the bucket is not empty. burst: the time in which an empty bucket becomes full. false:
 * nothing was drawn.
 */
MUST_USE static inline bool token_bucket_draw(
    struct token_bucket *bucket, int64_t now, int64_t burst, int64_t cost)
{
    if (bucket->full_at - now >= burst)
        return false;
    token_bucket_overdraw(bucket, now, cost);
    return true;
}

#endif
