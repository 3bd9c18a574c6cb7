/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.c - see the header.
 */
#include "api/codec.h"

#include <stdarg.h>

#include "base/wire.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/text.h"
#include "domain/ticks.h"

/*
 * How far a message may grow in memory. A message of two-byte elements would grow to fifty times its size,
 * and reading it would take longer than refusing it. A message of small properties grows to about twelve
 * times its size.
 */
enum { MAX_GROWTH = 2, MIN_ROOM = 8 * 1024 * 1024 };

struct unpack_room {
    struct arena *arena;
    size_t bytes;  /* bytes that are left */
    bool is_short; /* more bytes were asked for than are left */
};

static void *unpack_alloc(void *context, size_t bytes)
{
    struct unpack_room *room = context;

    if (bytes > room->bytes) {
        room->is_short = true;
        return NULL;
    }
    room->bytes -= bytes;
    return arena_alloc(room->arena, bytes);
}

static void unpack_free(void *context, void *memory)
{
    (void)context;
    (void)memory;
}

static ProtobufCMessage *read_within(
    const ProtobufCMessageDescriptor *type, struct str bytes, struct unpack_room *room)
{
    ProtobufCAllocator allocator = {
        .alloc = unpack_alloc,
        .free = unpack_free,
        .allocator_data = room,
    };

    return protobuf_c_message_unpack(type, &allocator, bytes.len, (const uint8_t *)bytes.data);
}

static size_t room_for(struct str bytes)
{
    return MIN_ROOM + MAX_GROWTH * bytes.len;
}

ProtobufCMessage *codec_read(const ProtobufCMessageDescriptor *type, struct str bytes, struct arena *arena)
{
    struct unpack_room room = { .arena = arena, .bytes = room_for(bytes) };

    return read_within(type, bytes, &room);
}

static enum status refuse_unread(const ProtobufCMessageDescriptor *type, struct str bytes,
    const struct unpack_room *room, struct error *err)
{
    if (room->is_short)
        return reason_set(err, REASON_INVALID_INPUT,
            "the %s has too many small elements: unpacked, its %zu bytes would take more than the %zu bytes "
            "of "
            "memory allowed for them; send it in parts",
            type->name, bytes.len, room_for(bytes));
    return reason_set(err, REASON_INVALID_INPUT, "the request is not a well-formed %s", type->name);
}

enum status codec_unpack(const ProtobufCMessageDescriptor *type, struct str bytes, struct arena *arena,
    ProtobufCMessage **out, struct error *err)
{
    struct unpack_room room = { .arena = arena, .bytes = room_for(bytes) };
    const struct arena then = *arena;
    ProtobufCMessage *message;

    if (bytes.len > LIMIT_REQUEST_BYTES) {
        (void)reason_set(err, REASON_REQUEST_BODY_TOO_LARGE, "the message has %zu bytes, allowed are %d",
            bytes.len, LIMIT_REQUEST_BYTES);
        error_add_meta_int(err, "limit", LIMIT_REQUEST_BYTES);
        error_add_meta_int(err, "actual", (int64_t)bytes.len);
        return STATUS_LIMIT;
    }
    message = read_within(type, bytes, &room);
    if (!message) {
        arena_rewind(arena, &then);
        return refuse_unread(type, bytes, &room, err);
    }
    *out = message;
    return STATUS_OK;
}

void codec_pack(struct buf *out, uint32_t field, const ProtobufCMessage *message)
{
    size_t bytes = protobuf_c_message_get_packed_size(message);

    if (field != 0) {
        wire_write_tag(out, field, WIRE_BYTES);
        wire_write_varint(out, bytes);
    }
    (void)protobuf_c_message_pack(message, (uint8_t *)buf_extend(out, bytes));
}

enum status codec_not_implemented(struct error *err, const char *field)
{
    return reason_set(err, REASON_NOT_IMPLEMENTED, "%s is not supported yet: leave it unset", field);
}

enum status codec_refuse_field(struct error *err, const char *field, const char *format, ...)
{
    const struct reason_info *info = reason_info(REASON_INVALID_INPUT);
    va_list args;

    va_start(args, format);
    (void)error_set_reason(err, info->status, info->name, format, args);
    va_end(args);
    return error_in_field(err, field);
}

enum status codec_missing(struct error *err, const char *field, const char *what)
{
    return codec_refuse_field(err, field, "%s is missing: %s", field, what);
}

enum status codec_request_id_decode(ProtobufCBinaryData request_id, struct str *out, struct error *err)
{
    bool fits = request_id.len <= LIMIT_REQUEST_ID_BYTES;

    for (size_t i = 0; fits && i < request_id.len; i++)
        fits = request_id.data[i] >= ' ' && request_id.data[i] <= '~';
    if (fits) {
        *out = codec_str(request_id);
        return STATUS_OK;
    }
    reason_set(err, REASON_INVALID_INPUT, "request_id has up to %d printable ASCII characters",
        LIMIT_REQUEST_ID_BYTES);
    error_add_meta_int(err, "limit", LIMIT_REQUEST_ID_BYTES);
    error_add_meta_int(err, "actual", (int64_t)request_id.len);
    return error_in_field(err, "request_id");
}

Google__Protobuf__Duration *codec_duration(int64_t us, struct arena *arena)
{
    Google__Protobuf__Duration *out;

    if (us < 0)
        return NULL;
    out = ARENA_NEW(arena, Google__Protobuf__Duration);
    google__protobuf__duration__init(out);
    out->seconds = us / 1000000;
    out->nanos = (int32_t)(us % 1000000) * 1000;
    return out;
}

Google__Protobuf__Timestamp *codec_timestamp(int64_t ticks, struct arena *arena)
{
    Google__Protobuf__Timestamp *out;

    if (ticks == 0)
        return NULL;
    out = ARENA_NEW(arena, Google__Protobuf__Timestamp);
    google__protobuf__timestamp__init(out);
    ticks_to_timestamp(ticks, &out->seconds, &out->nanos);
    return out;
}

void codec_write_timestamp(struct buf *out, uint32_t field, int64_t ticks)
{
    int64_t seconds;
    int32_t nanos;
    size_t bytes = 0;

    if (ticks == 0)
        return;
    ticks_to_timestamp(ticks, &seconds, &nanos);
    if (seconds != 0)
        bytes += 1 + wire_varint_bytes((uint64_t)seconds);
    if (nanos != 0)
        bytes += 1 + wire_varint_bytes((uint64_t)nanos);
    wire_write_tag(out, field, WIRE_BYTES);
    wire_write_varint(out, bytes);
    if (seconds != 0)
        wire_write_scalar(out, 1, (uint64_t)seconds);
    if (nanos != 0)
        wire_write_scalar(out, 2, (uint64_t)nanos);
}

struct str codec_text(struct str text, struct arena *arena)
{
    char *copy;

    if (text_check(text, NULL, NULL))
        return text;
    copy = arena_alloc(arena, text.len);
    for (size_t i = 0; i < text.len; i++)
        copy[i] = (signed char)text.data[i] < 0 ? '?' : text.data[i];
    return str_of_bytes(copy, text.len);
}
