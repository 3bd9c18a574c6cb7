/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cors.h - which pages in browsers may call: those of the origins that a setting lists, or, with none, those of this machine
 * if the server serves this machine alone.
 *
 * A browser says in the header Origin which page a call comes from. A call with an origin that is not allowed is refused, and
 * not only left without the headers by which the page could read its reply: a page that a browser has loaded from
 * anywhere must not change what a server on the user's machine stores.
 */
#ifndef SERVICE_CONNECT_CORS_H
#define SERVICE_CONNECT_CORS_H

#include <stdbool.h>

#include "http/server.h"

struct cors {
    const char *origins; /* "https://a.example,https://b.example:8443", or "*"; NULL: not set */
    bool allows_local; /* without origins: http and https of localhost, 127.0.0.1 and [::1], with any port */
};

/* For the table of settings. */
bool cors_origins_are_valid(const char *setting);
#define CORS_ORIGINS_ALLOWED "origins such as https://app.example:8443 with commas between them, or *"

/* Whether a page of this origin may call. */
bool cors_allows(const struct cors *cors, struct str origin);

/* Add the headers by which the page may read the reply; none if the request has no Origin. */
void cors_add_headers(const struct cors *cors, struct http_exchange *exchange);

/* Fill the reply to a preflight: an OPTIONS request with Access-Control-Request-Method. */
void cors_answer_preflight(const struct cors *cors, struct http_exchange *exchange);

#endif
