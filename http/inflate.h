/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate.h - compressed bodies: of requests, which are inflated under a bound, and of replies.
 */
#ifndef HTTP_INFLATE_H
#define HTTP_INFLATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "http/server.h"

/*
 * Put what Content-Encoding says has been compressed (gzip, deflate) in the place of the request's body; identity, and a body
 * of no bytes, stay. false: *out says why; the body is as it was. *made: the bytes that were inflated, also in vain.
 */
bool inflate_body(struct http_request *request, size_t max_bytes, struct arena *arena, size_t *made,
    enum http_refusal *out);

/* Has the request a body that inflate_body inflates, or refuses? */
bool inflate_is_due(const struct http_request *request);

enum inflate_outcome { INFLATE_DONE, INFLATE_TOO_LARGE, INFLATE_DAMAGED };

/* Append what the gzip or zlib stream holds, of which at most max_bytes; on failure *out has a part of it. */
enum inflate_outcome inflate_append(struct str compressed, size_t max_bytes, struct buf *out);

/* Append the bytes as gzip. */
void inflate_compress(struct str bytes, struct buf *out);

#endif
