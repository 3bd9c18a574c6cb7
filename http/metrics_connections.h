/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_connections.h - decides which connections of a metrics listener stay open: a bound in all and per
 * address, and a deadline.
 *
 * A new connection is always accepted; if a bound is reached, an old connection is closed for it. So a client
 * that holds connections open, by sending slowly or by not reading, does not keep other clients out: they are
 * answered within milliseconds. This module decides, and the listener closes. Used by one thread at a time.
 */
#ifndef HTTP_METRICS_CONNECTIONS_H
#define HTTP_METRICS_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    METRICS_CONNECTIONS = 16,
    METRICS_CONNECTIONS_PER_ADDRESS = 8,
    METRICS_ADDRESS_BYTES = 16,
    METRICS_DEADLINE_US = 5000000, /* time from the start of a connection to the last byte of its answer */
    METRICS_NO_CONNECTION = -1,
};

/* The address of a client; all zeros for every client on a Unix socket. */
struct metrics_address {
    uint8_t bytes[METRICS_ADDRESS_BYTES];
};

struct metrics_connection {
    int fd;
    struct metrics_address address;
    int64_t begun_us; /* clock_monotonic_us */
};

/* All members zero: no connections. */
struct metrics_connections {
    struct metrics_connection open[METRICS_CONNECTIONS]; /* sorted by age; the oldest is the first */
    size_t count;
};

/*
 * Add a connection, which has begun later than all others.
 *
 * Returns the descriptor of a connection that has to be closed and is forgotten here, or
 * METRICS_NO_CONNECTION: the oldest one from the same address, if that has METRICS_CONNECTIONS_PER_ADDRESS;
 * the oldest one from the address with most connections, if the table is full.
 */
int metrics_connections_add(struct metrics_connections *connections, const struct metrics_connection *added);

/* Remove a connection that has ended. An unknown descriptor is ignored. */
void metrics_connections_remove(struct metrics_connections *connections, int fd);

/*
 * Remove one connection whose deadline has passed, and return its descriptor; METRICS_NO_CONNECTION: there is
 * none.
 */
int metrics_connections_overdue(struct metrics_connections *connections, int64_t now_us);

/* Microseconds until the next deadline, at least 0; -1: no connection is open. */
int64_t metrics_connections_next_us(const struct metrics_connections *connections, int64_t now_us);

#endif
