/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_connections.h - which connections of a metrics listener stay open: a bound in all and per address, and a
 * deadline.
 *
 * A new connection is always let in, and the oldest one makes room for it. Connections that are held open, by sending
 * slowly or by not reading, therefore keep no other client out: it is answered within milliseconds.
 * The module decides; the listener closes. One thread at a time.
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
    METRICS_DEADLINE_US = 5000000, /* from the connection's first moment to the last byte of its answer */
    METRICS_NO_CONNECTION = -1,
};

/* Clients on Unix sockets all have the address of zeros. */
struct metrics_address {
    uint8_t bytes[METRICS_ADDRESS_BYTES];
};

struct metrics_connection {
    int fd;
    struct metrics_address address;
    int64_t begun_us; /* clock_monotonic_us */
};

/* All zero: none. */
struct metrics_connections {
    struct metrics_connection open[METRICS_CONNECTIONS]; /* the oldest first */
    size_t count;
};

/*
 * A connection has begun, later than all before. Returns the descriptor of the connection to close for it, which is
 * forgotten, or METRICS_NO_CONNECTION: the oldest one from its address, if that has
 * METRICS_CONNECTIONS_PER_ADDRESS; the oldest one from the address with most connections, if there is no place left.
 */
int metrics_connections_add(struct metrics_connections *connections, const struct metrics_connection *added);

/* A connection has ended. One that is not known is ignored. */
void metrics_connections_remove(struct metrics_connections *connections, int fd);

/* The descriptor of a connection whose deadline has passed, which is forgotten, or METRICS_NO_CONNECTION. */
int metrics_connections_overdue(struct metrics_connections *connections, int64_t now_us);

/* Microseconds until the next deadline, at least 0; -1: nothing is open. */
int64_t metrics_connections_next_us(const struct metrics_connections *connections, int64_t now_us);

#endif
