/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_link.h - one connection to one Redis or Sentinel, plain or over TLS: commands out, replies in, each
 * exchange with a time limit of its own.
 *
 * After any failure a link is of no more use: close it. Failures are STATUS_UNAVAILABLE. Writing over TLS
 * may raise SIGPIPE, so programs ignore it.
 */
#ifndef QUEUE_REDIS_LINK_H
#define QUEUE_REDIS_LINK_H

#include "queue/redis.h"

struct redis_link;

struct servers_redis_address {
    const char *path; /* of a Unix socket; NULL: host and port */
    const char *host;
    int port;
    const struct redis_access *tls; /* NULL: plain */
};

/* deadline_us: on clock_monotonic_us. Looking a host's name up takes as long as the system's resolver does. */
MUST_USE enum status redis_link_open(const struct servers_redis_address *address, int64_t deadline_us,
    struct redis_link **out, struct error *err);
void redis_link_close(struct redis_link *link);

/* Send `count` commands of a batch as one pipeline and wait for their replies. Those of a failure go. */
MUST_USE enum status redis_link_exchange(struct redis_link *link, struct redis_batch *batch, size_t first,
    size_t count, int64_t deadline_us, struct error *err);

#endif
