/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect_codec.h - the texts and frames of the Connect protocol (https://connectrpc.com/docs/protocol). Pure.
 */
#ifndef SERVICE_CONNECT_CONNECT_CODEC_H
#define SERVICE_CONNECT_CONNECT_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* What a Content-Type says of messages. */
struct connect_media {
    bool is_json;   /* false: the messages are protobuf */
    bool is_stream; /* the messages are in envelopes */
};

/* "application/json; charset=utf-8" and so on. false: none of the protocol's, or another charset. */
bool connect_media_parse(struct str content_type, struct connect_media *out);

/* "application/connect+json", ... */
const char *connect_media_name(const struct connect_media *media);

/* gRPC's number of a code (0..16) as the protocol's text and HTTP status: 5 is "not_found" and 404. */
const char *connect_codec_code_name(int code);
int connect_codec_http_status(int code);

/* Connect-Timeout-Ms: up to ten digits. */
bool connect_codec_parse_timeout(struct str text, int64_t *out_ms);

/* Flags of an envelope. */
enum { CONNECT_COMPRESSED = 1, CONNECT_END = 2, CONNECT_PREFIX_BYTES = 5 };

struct connect_envelope {
    uint8_t flags;
    struct str message; /* borrowed from the body */
};

enum connect_taken { CONNECT_TAKEN, CONNECT_NONE_LEFT, CONNECT_CUT_OFF };

/* Take the next envelope off the body. CONNECT_CUT_OFF: the body ends inside of it. */
enum connect_taken connect_envelope_take(struct str *body, struct connect_envelope *out);

/* Append an envelope. */
void connect_envelope_write(struct buf *out, uint8_t flags, struct str message);

/*
 * Append the JSON form of an error: {"code":"not_found","message":"...","details":[...]}.
 *
 * status  a serialized google.rpc.Status; its details become elements with type, value (base64 without padding) and, if the API
 *         knows the type, debug (the JSON form)
 */
void connect_codec_write_error(struct buf *out, int code, struct str message, struct str status);

/*
 * Refuse a text that a tree of its values would take too much memory for: more than CONNECT_MAX_JSON_VALUES.
 *
 * STATUS_LIMIT  REQUEST_BODY_TOO_LARGE
 */
enum { CONNECT_MAX_JSON_VALUES = 250 * 1000 };
MUST_USE enum status connect_codec_check_values(struct str json, struct error *err);

/* Decode %XX and + of a query's value. false: a % without two hexadecimal digits. */
bool connect_codec_unescape(struct str text, struct arena *arena, struct str *out);

/* The value of a parameter in a query, as it was sent; false: it is not there. */
bool connect_codec_find_parameter(struct str query, const char *name, struct str *out);

#endif
