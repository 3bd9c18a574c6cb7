/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sentinel.h - where the master is, by the word of Sentinels. The word may be old: whoever follows it
 * asks the Redis found there for its role.
 */
#ifndef QUEUE_REDIS_SENTINEL_H
#define QUEUE_REDIS_SENTINEL_H

#include <stdint.h>

#include "queue/redis_url.h"

enum { REDIS_HOST_BYTES = 256 };

struct redis_master {
    char host[REDIS_HOST_BYTES];
    int port;
};

/*
 * Ask the Sentinels of an address in turns, beginning with number *next, until one names a master; each gets its
 * share of the time. *next: then the one that did.
 *
 * STATUS_UNAVAILABLE  none answers, or none knows a master of this name
 */
MUST_USE enum status redis_sentinel_ask(const struct redis_url *url, const struct redis_access *access,
    size_t *next, int64_t deadline_us, struct redis_master *out, struct error *err);

#endif
