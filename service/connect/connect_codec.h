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

/* The form of messages, from a Content-Type. */
struct connect_media {
    bool is_json;   /* false: the messages are protobuf */
    bool is_stream; /* the messages are in envelopes */
};

/*
 * Read a media type: "application/json; charset=utf-8" and so on. false: not a type of the protocol, or
 * another charset than UTF-8.
 */
bool connect_media_parse(struct str content_type, struct connect_media *out);

/* The media type: "application/connect+json", ... */
const char *connect_media_name(const struct connect_media *media);

/* The protocol's name and HTTP status of a gRPC code (0..16): 5 is "not_found" and 404. */
const char *connect_codec_code_name(int code);
int connect_codec_http_status(int code);

/* Read the value of Connect-Timeout-Ms: up to ten digits. */
bool connect_codec_parse_timeout(struct str text, int64_t *out_ms);

/* Flags of an envelope. */
enum { CONNECT_COMPRESSED = 1, CONNECT_END = 2, CONNECT_PREFIX_BYTES = 5 };

struct connect_envelope {
    uint8_t flags;
    struct str message; /* borrows the body */
};

enum connect_taken { CONNECT_TAKEN, CONNECT_NONE_LEFT, CONNECT_CUT_OFF };

/* Take the next envelope off the body. CONNECT_CUT_OFF: the body ends inside the envelope. */
enum connect_taken connect_envelope_take(struct str *body, struct connect_envelope *out);

/* Append an envelope. */
void connect_envelope_write(struct buf *out, uint8_t flags, struct str message);

/*
 * Append the JSON form of an error: {"code":"not_found","message":"...","details":[...]}.
 *
 * status  a serialized google.rpc.Status. Each of its details becomes an element with type, value (base64 without
 *         padding) and, if the API knows the type, debug (the JSON form)
 */
void connect_codec_write_error(struct buf *out, int code, struct str message, struct str status);

/*
 * Refuse a text with more than CONNECT_MAX_JSON_VALUES values: the tree of its values would take too much
 * memory.
 *
 * STATUS_LIMIT  REQUEST_BODY_TOO_LARGE
 */
enum { CONNECT_MAX_JSON_VALUES = 250 * 1000 };
MUST_USE enum status connect_codec_check_values(struct str json, struct error *err);

/* Decode %XX and + in a value of a query. false: a % without two hexadecimal digits. */
bool connect_codec_unescape(struct str text, struct arena *arena, struct str *out);

/* The value of a parameter of the query, as received. false: the parameter is missing. */
bool connect_codec_find_parameter(struct str query, const char *name, struct str *out);

#endif
