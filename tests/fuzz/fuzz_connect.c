/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_connect.c - any bytes as the parts of a request of the Connect protocol. The first byte chooses the
 * part: a body of envelopes, headers, a query, or the text of a message. If the envelopes of a body are read
 * and written again, the bytes are the same.
 */
#include <string.h>

#include "http/inflate.h"
#include "http/message.h"
#include "service/connect/connect_codec.h"
#include "service/connect/cors.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_connect;

enum { BODY, HEADERS, QUERY, TEXT, PARTS, MAX_INFLATED = 65536 };

static void read_body(struct str body, struct arena *arena)
{
    struct str rest = body;
    struct connect_envelope envelope;
    struct buf again, inflated;

    buf_init(&again, arena);
    while (connect_envelope_take(&rest, &envelope) == CONNECT_TAKEN) {
        connect_envelope_write(&again, envelope.flags, envelope.message);
        buf_init(&inflated, arena);
        if (envelope.flags & CONNECT_COMPRESSED)
            (void)inflate_append(envelope.message, MAX_INFLATED, &inflated);
        fuzz_require(inflated.len <= MAX_INFLATED + 16384);
    }
    fuzz_require(again.len <= body.len && (again.len == 0 || memcmp(again.data, body.data, again.len) == 0));
}

static void read_headers(struct str text)
{
    const struct http_header header = { STR_LITERAL("Accept-Encoding"), text };
    const struct http_request request = { .headers = &header, .header_count = 1 };
    const struct cors cors = { .allows_local = true, .checks_host = true };
    struct connect_media media, again;
    int64_t timeout_ms;

    if (connect_media_parse(text, &media)) {
        fuzz_require(connect_media_parse(str_of(connect_media_name(&media)), &again));
        fuzz_require(again.is_json == media.is_json && again.is_stream == media.is_stream);
    }
    if (connect_codec_parse_timeout(text, &timeout_ms))
        fuzz_require(timeout_ms >= 0 && timeout_ms <= INT64_C(9999999999));
    (void)http_request_header_lists(&request, "accept-encoding", "gzip");
    (void)cors_allows(&cors, text);
    (void)cors_allows_host(&cors, text);
}

static void read_query(struct str query, struct arena *arena)
{
    struct str value, plain;

    if (connect_codec_find_parameter(query, "message", &value) &&
        connect_codec_unescape(value, arena, &plain))
        fuzz_require(plain.len <= value.len);
}

void fuzz_connect(struct str input)
{
    struct str rest = str_from(input, 1);
    struct error err = { 0 };
    struct arena arena;

    if (input.len == 0)
        return;
    arena_init(&arena);
    switch ((unsigned char)input.data[0] % PARTS) {
    case BODY:
        read_body(rest, &arena);
        break;
    case HEADERS:
        read_headers(rest);
        break;
    case QUERY:
        read_query(rest, &arena);
        break;
    default:
        fuzz_require(
            connect_codec_check_values(rest, &err) == STATUS_OK || rest.len > CONNECT_MAX_JSON_VALUES);
    }
    arena_cleanup(&arena);
}
