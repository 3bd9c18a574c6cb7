/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_counts.h - how many connections each address has. One thread at a time.
 */
#ifndef HTTP_ADDRESS_COUNTS_H
#define HTTP_ADDRESS_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ADDRESS_BYTES = 16, ADDRESS_BUCKETS = 1024 };

/* What connections are counted by: all of IPv4, the first 64 bits of IPv6, zeros for a Unix socket. */
struct http_address {
    uint8_t bytes[ADDRESS_BYTES];
    bool is_counted; /* false: a Unix socket */
};

struct address_count;

/* Zeroed: none. */
struct address_counts {
    struct address_count *buckets[ADDRESS_BUCKETS];
};

struct http_address http_address_of(const struct sockaddr *peer);

/* One more, or one less. Returns the number of the address afterwards; 0 for one that is not counted. */
int address_counts_add(struct address_counts *counts, const struct http_address *address);
int address_counts_remove(struct address_counts *counts, const struct http_address *address);

#endif
