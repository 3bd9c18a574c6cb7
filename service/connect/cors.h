/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cors.h - decides which web pages may make calls: pages of the origins that a setting lists. Without the
 * setting: pages of this machine, if the server listens on loopback only.
 *
 * The header Origin says which page a call comes from. If the origin is not allowed, the call is refused; it
 * would not suffice to leave out the headers that let the page read the reply, because a page that a browser
 * has loaded from anywhere must not change what a server on the user's machine stores.
 *
 * A page can also have its own name resolve to an address of this machine, and then asks without Origin. So a server
 * that serves every caller takes requests only under a name of this machine, or of an origin that the setting lists.
 */
#ifndef SERVICE_CONNECT_CORS_H
#define SERVICE_CONNECT_CORS_H

#include <stdbool.h>

#include "http/server.h"

struct cors {
    const char *origins; /* "https://a.example,https://b.example:8443", or "*"; NULL: not set */
    /* if origins is NULL: allow http and https of localhost, 127.0.0.1 and [::1] with any port */
    bool allows_local;
    bool checks_host; /* callers need no credential, and browsers reach the address */
};

/* Whether the value of the setting is valid; for the table of settings. */
bool cors_origins_are_valid(const char *setting);
#define CORS_ORIGINS_ALLOWED "origins such as https://app.example:8443 with commas between them, or *"

/* Whether a page of this origin may make calls. */
bool cors_allows(const struct cors *cors, struct str origin);

/* Whether a request with this Host may be served; empty: it has none, so no browser has sent it. */
bool cors_allows_host(const struct cors *cors, struct str host);

/* Add the headers that let the page read the reply; none if the request has no Origin. */
void cors_add_headers(const struct cors *cors, struct http_exchange *exchange);

/* Fill in the reply to a preflight: an OPTIONS request with Access-Control-Request-Method. */
void cors_answer_preflight(const struct cors *cors, struct http_exchange *exchange);

#endif
