/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_address.h - addresses of callers, and ranges of them.
 *
 * An address has sixteen bytes; an IPv4 address is stored as the IPv6 address to which it is
 * mapped, so that both spellings of one caller are equal. Pure.
 */
#ifndef DOMAIN_ACCESS_NETWORK_ADDRESS_H
#define DOMAIN_ACCESS_NETWORK_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum { NETWORK_ADDRESS_BYTES = 16 };

struct network_address {
    uint8_t bytes[NETWORK_ADDRESS_BYTES];
};

/* A range that includes both ends. */
struct network_range {
    struct network_address low, high;
};

/* "192.0.2.7", "2001:db8::7"; a zone behind % is ignored. */
bool network_address_parse(struct str text, struct network_address *out);
struct str network_address_format(const struct network_address *address, struct arena *arena);

/* "192.0.2.7" or "192.0.2.0-192.0.2.255", the lower end first. */
bool network_range_parse(struct str text, struct network_range *out);
bool network_range_contains(const struct network_range *range, const struct network_address *address);

/*
 * Parse the name that the transport gives a caller: "ipv4:192.0.2.7:5000",
 * "ipv6:[2001:db8::7]:5000" (brackets and % literally or as %5B, %5D, %25). false: the caller has
 * no address, as on a Unix socket.
 */
bool network_address_of_peer(struct str peer, struct network_address *out);

#endif
