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
 * Replace a compressed body of the request (gzip, deflate: Content-Encoding says which) by its inflated form.
 * A body with the encoding identity, and an empty body, stay as they are.
 *
 * *made  the number of inflated bytes, even if inflating failed
 * false  *out has the reason; the body is unchanged
 */
bool inflate_body(struct http_request *request, size_t max_bytes, struct arena *arena, size_t *made,
    enum http_refusal *out);

/* Whether the request has a body that inflate_body would inflate or refuse. */
bool inflate_is_due(const struct http_request *request);

enum inflate_outcome { INFLATE_DONE, INFLATE_TOO_LARGE, INFLATE_DAMAGED };

/* Append the inflated form of a gzip or zlib stream, up to max_bytes. On failure *out has a part of it. */
enum inflate_outcome inflate_append(struct str compressed, size_t max_bytes, struct buf *out);

/* Append the bytes, compressed with gzip. */
void inflate_compress(struct str bytes, struct buf *out);

#endif
