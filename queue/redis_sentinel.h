/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sentinel.h - asks Sentinels for the address of the master. The answer may be old: after
 * connecting, check the server's role.
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
 * Ask the Sentinels of an address one after the other, beginning with number *next, until one names
 * a master. Each gets its share of the time. On success *next is the number of the Sentinel that
 * answered.
 *
 * STATUS_UNAVAILABLE  no Sentinel answers, or none knows a master of this name
 */
MUST_USE enum status redis_sentinel_ask(const struct redis_url *url, const struct redis_access *access,
    size_t *next, int64_t deadline_us, struct redis_master *out, struct error *err);

#endif
