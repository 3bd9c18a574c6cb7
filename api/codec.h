/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - functions that all codecs share: reading and writing messages, borrowed strings, times, refusals.
 *
 * The files api/codec_*.c are the only translators between generated messages and domain types. The domain's
 * constructors check the rules; a codec adds only what the API itself demands: which fields are required, and
 * which fields are not supported yet and are refused by name. Field paths in messages are those of the
 * request, e.g. "query.filter".
 */
#ifndef API_CODEC_H
#define API_CODEC_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "google/protobuf/duration.pb-c.h"
#include "google/protobuf/timestamp.pb-c.h"

static inline struct str codec_str(ProtobufCBinaryData data)
{
    return str_of_bytes(data.data, data.len);
}

static inline ProtobufCBinaryData codec_bytes(struct str text)
{
    return (ProtobufCBinaryData){ .data = (uint8_t *)(uintptr_t)text.data, .len = text.len };
}

/*
 * Read a message into the arena. NULL if the bytes are not a well-formed message of the type, or if the message in
 * memory would take more than 8 MiB and more than twice its encoded size, because of many small elements.
 */
ProtobufCMessage *codec_read(const ProtobufCMessageDescriptor *type, struct str bytes, struct arena *arena);

/*
 * Read a request into the arena.
 * STATUS_INVALID  INVALID_INPUT: malformed, or too many small elements; see codec_read
 * STATUS_LIMIT    REQUEST_BODY_TOO_LARGE: over LIMIT_REQUEST_BYTES
 */
MUST_USE enum status codec_unpack(const ProtobufCMessageDescriptor *type, struct str bytes,
    struct arena *arena, ProtobufCMessage **out, struct error *err);

/* Append a message to out: as the field `field` of the message in out, or, if field is 0, without tag and length. */
void codec_pack(struct buf *out, uint32_t field, const ProtobufCMessage *message);

/*
 * Refuse a field that is not supported yet: STATUS_UNIMPLEMENTED, NOT_IMPLEMENTED; the message names the
 * field.
 */
enum status codec_not_implemented(struct error *err, const char *field);

/* Refuse a request for the value of a field: STATUS_INVALID, INVALID_INPUT, with the message. */
PRINTF_LIKE(3, 4)
enum status codec_refuse_field(struct error *err, const char *field, const char *format, ...);

/*
 * Refuse a request without a required field: STATUS_INVALID, INVALID_INPUT. what: words that say what the
 * field holds.
 */
enum status codec_missing(struct error *err, const char *field, const char *what);

/*
 * Decode a request_id, which may be empty. STATUS_INVALID: INVALID_INPUT, too long, or not printable ASCII.
 */
MUST_USE enum status codec_request_id_decode(
    ProtobufCBinaryData request_id, struct str *out, struct error *err);

/* Make the message of a time in ticks. 0 means no time, and gives NULL. */
Google__Protobuf__Timestamp *codec_timestamp(int64_t ticks, struct arena *arena);

/* Make the message of a duration in microseconds. A negative duration is not known, and gives NULL. */
Google__Protobuf__Duration *codec_duration(int64_t us, struct arena *arena);

/* Append a time in ticks as the field `field` of the message in out; 0 appends nothing. */
void codec_write_timestamp(struct buf *out, uint32_t field, int64_t ticks);

/*
 * Make text valid for a string field: if the bytes are not UTF-8, each byte above ASCII becomes a question
 * mark.
 */
struct str codec_text(struct str text, struct arena *arena);

#endif
