/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_url.h - the URLs that http_call steps name, and the list of hosts that an operator allows them. Pure.
 *
 * A URL has one reading only: nothing that programs read in different ways (user names, backslashes, percent signs in
 * the host) is valid. So the host that is compared with the list is the host that is called.
 */
#ifndef DOMAIN_TRANSACTIONS_CALL_URL_H
#define DOMAIN_TRANSACTIONS_CALL_URL_H

#include <stdbool.h>

#include "base/str.h"

#define CALL_URL_ALLOWED                                                                                     \
    "http:// or https://, a host of letters, digits and - . _ or an IPv6 address in brackets, a port "       \
    "if it is not the scheme's, a path and a query; up to 2048 printable ASCII characters without \\ and #"
#define CALL_URL_HOSTS_ALLOWED "HOST or HOST:PORT, with commas between them; without a port 443"

struct call_address {
    struct str host; /* with the brackets of an IPv6 address; borrows the URL */
    int port;
};

/* false: the URL is not one that CALL_URL_ALLOWED describes. */
bool call_url_read(struct str url, struct call_address *out);

/* Whether CALL_URL_HOSTS_ALLOWED describes the list. */
bool call_url_hosts_are_valid(const char *hosts);

/* Whether a valid list has this host, in any case of its letters, with this port. NULL: an empty list. */
bool call_url_is_of_hosts(const char *hosts, const struct call_address *address);

#endif
