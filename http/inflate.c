/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate.c - see the header. A gzip stream tells its length, so one beyond the bound is not inflated at all; that of
 * others is checked while they are inflated, so memory never holds more than the bound.
 */
#include "http/inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/gzip.h"

enum {
    STEP_BYTES = 16 * 1024,
    ANY_FORMAT = 15 + 32,  /* gzip or zlib, recognised by the first bytes; the largest window */
    GZIP_FORMAT = 15 + 16, /* gzip; the largest window */
    FAST = 1,
    MEMORY_LEVEL = 8,
};

/* By its first two bytes (RFC 1952, 2.3.1). */
static bool is_gzip(struct str stream)
{
    return str_starts_with(stream, STR_LITERAL("\x1f\x8b"));
}

enum inflate_outcome inflate_append(struct str compressed, size_t max_bytes, struct buf *out)
{
    size_t begin = out->len;
    z_stream stream = { 0 };
    int result = Z_OK;

    if (compressed.len > UINT_MAX || (is_gzip(compressed) && gzip_length(compressed) > max_bytes))
        return INFLATE_TOO_LARGE;
    if (inflateInit2(&stream, ANY_FORMAT) != Z_OK)
        abort(); /* no memory */
    stream.next_in = (Bytef *)(uintptr_t)compressed.data;
    stream.avail_in = (uInt)compressed.len;
    while (result == Z_OK && out->len - begin <= max_bytes) {
        stream.next_out = (Bytef *)buf_reserve(out, STEP_BYTES);
        stream.avail_out = STEP_BYTES;
        result = inflate(&stream, Z_NO_FLUSH);
        out->len += STEP_BYTES - stream.avail_out;
    }
    (void)inflateEnd(&stream);
    if (out->len - begin > max_bytes)
        return INFLATE_TOO_LARGE;
    return result == Z_STREAM_END && stream.avail_in == 0 ? INFLATE_DONE : INFLATE_DAMAGED;
}

void inflate_compress(struct str bytes, struct buf *out)
{
    z_stream stream = { 0 };
    size_t room;

    if (deflateInit2(&stream, FAST, Z_DEFLATED, GZIP_FORMAT, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        abort(); /* no memory */
    room = deflateBound(&stream, bytes.len);
    stream.next_in = (Bytef *)(uintptr_t)bytes.data;
    stream.avail_in = (uInt)bytes.len;
    stream.next_out = (Bytef *)buf_reserve(out, room);
    stream.avail_out = (uInt)room;
    (void)deflate(&stream, Z_FINISH); /* cannot fail: the buffer has room for the whole result */
    out->len += room - stream.avail_out;
    (void)deflateEnd(&stream);
}

bool inflate_is_due(const struct http_request *request)
{
    struct str coding = http_request_header(request, "Content-Encoding");

    return coding.len > 0 && request->body.len > 0 && !str_equal_any_case(coding, STR_LITERAL("identity"));
}

bool inflate_body(
    struct http_request *request, size_t max_bytes, struct arena *arena, size_t *made, enum http_refusal *out)
{
    struct str coding = http_request_header(request, "Content-Encoding");
    enum inflate_outcome outcome;
    struct buf inflated;

    *made = 0;
    if (!inflate_is_due(request))
        return true;
    if (!str_equal_any_case(coding, STR_LITERAL("gzip")) &&
        !str_equal_any_case(coding, STR_LITERAL("deflate"))) {
        *out = HTTP_BODY_UNKNOWN_ENCODING;
        return false;
    }
    buf_init(&inflated, arena);
    outcome = inflate_append(request->body, max_bytes, &inflated);
    *made = inflated.len;
    switch (outcome) {
    case INFLATE_DONE:
        request->body = buf_str(&inflated);
        return true;
    case INFLATE_TOO_LARGE:
        *out = HTTP_BODY_TOO_LARGE;
        return false;
    case INFLATE_DAMAGED:
        break;
    }
    *out = HTTP_BODY_DAMAGED;
    return false;
}
