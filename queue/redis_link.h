/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_link.h - one connection to one Redis or Sentinel, plain or over TLS. It sends commands and
 * receives replies; each exchange has its own deadline.
 *
 * After any failure the only allowed call is redis_link_close. Failures are STATUS_UNAVAILABLE.
 * Writes over TLS may raise SIGPIPE, so programs ignore it.
 */
#ifndef QUEUE_REDIS_LINK_H
#define QUEUE_REDIS_LINK_H

#include "queue/redis.h"

struct redis_link;

struct redis_link_address {
    const char *path; /* of a Unix socket; NULL: host and port */
    const char *host;
    int port;
    const struct redis_access *tls; /* NULL: plain */
};

/* deadline_us: a time of clock_monotonic_us. The lookup of a host name is not bounded by it. */
MUST_USE enum status redis_link_open(const struct redis_link_address *address, int64_t deadline_us,
    struct redis_link **out, struct error *err);
void redis_link_close(struct redis_link *link);

/*
 * Send `count` commands of a batch, from number `first` on, as one pipeline, and wait for their
 * replies. If that fails, the batch has no replies.
 */
MUST_USE enum status redis_link_exchange(struct redis_link *link, struct redis_batch *batch, size_t first,
    size_t count, int64_t deadline_us, struct error *err);

#endif
