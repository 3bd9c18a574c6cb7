/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_address.h - whether an address is on this machine, so that no third party can read the
 * traffic.
 *
 * Pure: no name is looked up.
 */
#ifndef BASE_LOCAL_ADDRESS_H
#define BASE_LOCAL_ADDRESS_H

#include <stdbool.h>

/*
 * address: "host:port" or "unix:/path". true for a Unix socket, an IPv4 address of 127.0.0.0/8,
 * "[::1]" and "localhost"; false for a name that only begins like one of these ("127.example.org",
 * "[::1].example.org").
 */
bool local_address_is(const char *address);

#endif
