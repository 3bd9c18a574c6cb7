/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_counts.h - how many connections each address has. Used by one thread at a time.
 */
#ifndef HTTP_ADDRESS_COUNTS_H
#define HTTP_ADDRESS_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ADDRESS_BYTES = 16, ADDRESS_BUCKETS = 1024 };

/*
 * What connections are counted by: a whole IPv4 address, the first 64 bits of an IPv6 address; zeros for a
 * Unix socket.
 */
struct http_address {
    uint8_t bytes[ADDRESS_BYTES];
    bool is_counted; /* false: a Unix socket, which is not counted */
};

struct address_count;

/* All members zero: no connections. */
struct address_counts {
    struct address_count *buckets[ADDRESS_BUCKETS];
};

struct http_address http_address_of(const struct sockaddr *peer);

/*
 * Count one connection more, or one less. Returns the number of the address afterwards; 0 if the address is
 * not counted.
 */
int address_counts_add(struct address_counts *counts, const struct http_address *address);
int address_counts_remove(struct address_counts *counts, const struct http_address *address);

#endif
