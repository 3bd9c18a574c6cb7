/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_head.h - the head of a request, which is its request line and its headers: read from the library, and
 * refused where another program could read it differently.
 */
#ifndef HTTP_REQUEST_HEAD_H
#define HTTP_REQUEST_HEAD_H

#include "http/server_parts.h"

/*
 * Where the library has the head of a request: as it was received, with NULs in place of blanks, colons and line
 * ends.
 */
struct request_head {
    const char *method, *url, *version;
    size_t bytes; /* from the method to the empty line, both included */
};

/*
 * Read method, target and headers into *out; the texts are copied into the arena. Returns why the request is
 * refused, a text for the client; NULL: it is not.
 */
const char *request_head_read(struct connection *connection, const struct request_head *head,
    struct arena *arena, struct http_request *out);

/* Read the value of Content-Length; 0 if it was not sent. false: the value is not a number. */
bool request_head_length(const struct http_request *request, uint64_t *out);

#endif
