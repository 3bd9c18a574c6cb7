/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_counts.c - see the header. A fixed number of buckets, each with a list: an address has a row only
 * while it has connections.
 */
#include "http/address_counts.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

enum { IPV6_COUNTED_BYTES = 8 };

struct address_count {
    struct address_count *next;
    uint8_t bytes[ADDRESS_BYTES];
    int count;
};

static void copy_ipv6(const struct in6_addr *from, uint8_t *out)
{
    if (IN6_IS_ADDR_V4MAPPED(from))
        memcpy(out, &from->s6_addr[ADDRESS_BYTES - sizeof(struct in_addr)], sizeof(struct in_addr));
    else
        memcpy(out, from, IPV6_COUNTED_BYTES);
}

struct http_address http_address_of(const struct sockaddr *peer)
{
    struct http_address out = { 0 };

    if (!peer || (peer->sa_family != AF_INET && peer->sa_family != AF_INET6))
        return out;
    out.is_counted = true;
    if (peer->sa_family == AF_INET)
        memcpy(
            out.bytes, &((const struct sockaddr_in *)(const void *)peer)->sin_addr, sizeof(struct in_addr));
    else
        copy_ipv6(&((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr, out.bytes);
    return out;
}

/* The link that points to the row of the address, or the link where a new row belongs. */
static struct address_count **find_row(struct address_counts *counts, const struct http_address *address)
{
    uint64_t hash = hash_bytes(HASH_EMPTY, str_of_bytes(address->bytes, ADDRESS_BYTES));
    struct address_count **at = &counts->buckets[hash % ADDRESS_BUCKETS];

    while (*at && memcmp((*at)->bytes, address->bytes, ADDRESS_BYTES) != 0)
        at = &(*at)->next;
    return at;
}

int address_counts_add(struct address_counts *counts, const struct http_address *address)
{
    struct address_count **at;

    if (!address->is_counted)
        return 0;
    at = find_row(counts, address);
    if (!*at) {
        *at = xcalloc(1, sizeof(**at));
        memcpy((*at)->bytes, address->bytes, ADDRESS_BYTES);
    }
    return ++(*at)->count;
}

int address_counts_remove(struct address_counts *counts, const struct http_address *address)
{
    struct address_count **at = find_row(counts, address);
    struct address_count *row = *at;

    if (!address->is_counted || !row)
        return 0;
    if (--row->count > 0)
        return row->count;
    *at = row->next;
    free(row);
    return 0;
}
