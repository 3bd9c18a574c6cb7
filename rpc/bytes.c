/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - see the header. A small message arrives in one slice and is not copied.
 *
 * A message of gzip tells its inflated length, so one beyond the bound is refused before it is inflated. Other messages
 * are inflated into a buffer that doubles and never exceeds the bound, so a small one takes little memory.
 */
#include "rpc/bytes.h"

#include <grpc/byte_buffer_reader.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/gzip.h"
#include "base/macros.h"

enum { FIRST_INFLATED_BYTES = 4096, ZLIB_WINDOW_BITS = 15, GZIP_WINDOW_BITS = 15 + 16 };

struct str bytes_view(struct bytes *bytes)
{
    grpc_byte_buffer_reader reader;
    grpc_slice *first;

    if (bytes->is_joined)
        return bytes_of_slice(&bytes->joined);
    if (grpc_byte_buffer_length(bytes->buffer) == 0 || !grpc_byte_buffer_reader_init(&reader, bytes->buffer))
        return STR_EMPTY;
    if (grpc_byte_buffer_reader_peek(&reader, &first) &&
        GRPC_SLICE_LENGTH(*first) == grpc_byte_buffer_length(bytes->buffer)) {
        grpc_byte_buffer_reader_destroy(&reader);
        return bytes_of_slice(first);
    }
    grpc_byte_buffer_reader_destroy(&reader);
    grpc_byte_buffer_reader_init(&reader, bytes->buffer);
    bytes->joined = grpc_byte_buffer_reader_readall(&reader);
    bytes->is_joined = true;
    grpc_byte_buffer_reader_destroy(&reader);
    return bytes_of_slice(&bytes->joined);
}

/* Inflate all of `in` into *out, which has `first` bytes at first and grows to at most max_bytes + 1. */
static enum bytes_opened inflate_all(z_stream *stream, size_t first, size_t max_bytes, Bytef **out)
{
    size_t room = 0;
    int result = Z_OK;

    while (result == Z_OK || result == Z_BUF_ERROR) {
        if (stream->total_out > max_bytes)
            return BYTES_TOO_LARGE;
        if (stream->avail_out == 0) {
            size_t more = room == 0 ? first : room;

            more = room + more > max_bytes + 1 ? max_bytes + 1 - room : more;
            *out = xrealloc(*out, room + more);
            room += more;
        }
        stream->next_out = *out + stream->total_out;
        stream->avail_out = (uInt)(room - stream->total_out);
        result = inflate(stream, Z_NO_FLUSH);
        if (result == Z_OK && stream->avail_in == 0 && stream->avail_out > 0)
            return BYTES_DAMAGED; /* the compressed stream is cut short */
        if (result == Z_BUF_ERROR && stream->avail_out > 0)
            return BYTES_DAMAGED;
    }
    if (result != Z_STREAM_END || stream->avail_in > 0)
        return BYTES_DAMAGED;
    return stream->total_out > max_bytes ? BYTES_TOO_LARGE : BYTES_OPENED;
}

static enum bytes_opened inflate_message(struct bytes *bytes, int window_bits, size_t first, size_t max_bytes)
{
    struct str packed = bytes_view(bytes);
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)packed.data, .avail_in = (uInt)packed.len };
    Bytef *out = NULL;
    enum bytes_opened opened;
    size_t length;

    if (inflateInit2(&stream, window_bits) != Z_OK)
        abort(); /* no memory */
    opened = inflate_all(&stream, first, max_bytes, &out);
    length = stream.total_out;
    bytes->inflated = length;
    inflateEnd(&stream);
    if (opened != BYTES_OPENED) {
        free(out);
        return opened;
    }
    if (bytes->is_joined)
        grpc_slice_unref(bytes->joined);
    bytes->joined = grpc_slice_new(out, length, free);
    bytes->is_joined = true;
    return opened;
}

static enum bytes_opened inflate_gzip(struct bytes *bytes, size_t max_bytes)
{
    size_t length = gzip_length(bytes_view(bytes));
    enum bytes_opened opened;

    if (length > max_bytes)
        return BYTES_TOO_LARGE;
    opened = inflate_message(bytes, GZIP_WINDOW_BITS, length + 1, length);
    return opened == BYTES_TOO_LARGE ? BYTES_DAMAGED : opened; /* the length is false */
}

bool bytes_is_compressed(const struct bytes *bytes)
{
    return bytes->buffer->data.raw.compression != GRPC_COMPRESS_NONE;
}

enum bytes_opened bytes_open(struct bytes *bytes, size_t max_bytes)
{
    if (grpc_byte_buffer_length(bytes->buffer) > max_bytes)
        return BYTES_TOO_LARGE;
    switch (bytes->buffer->data.raw.compression) {
    case GRPC_COMPRESS_GZIP:
        return inflate_gzip(bytes, max_bytes);
    case GRPC_COMPRESS_DEFLATE:
        return inflate_message(bytes, ZLIB_WINDOW_BITS, FIRST_INFLATED_BYTES, max_bytes);
    default:
        return BYTES_OPENED;
    }
}

void bytes_release(struct bytes *bytes)
{
    if (bytes->buffer)
        grpc_byte_buffer_destroy(bytes->buffer);
    if (bytes->is_joined)
        grpc_slice_unref(bytes->joined);
    *bytes = (struct bytes){ 0 };
}

grpc_byte_buffer *bytes_copy(struct str message)
{
    grpc_slice slice = bytes_slice(message);
    grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    return buffer;
}

grpc_slice bytes_slice(struct str text)
{
    return text.len > 0 ? grpc_slice_from_copied_buffer(text.data, text.len) : grpc_empty_slice();
}

struct str bytes_of_slice(const grpc_slice *slice)
{
    return str_of_bytes(GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
}

struct str bytes_metadata(const grpc_metadata_array *array, struct str key)
{
    for (size_t i = 0; i < array->count; i++)
        if (str_equal(bytes_of_slice(&array->metadata[i].key), key))
            return bytes_of_slice(&array->metadata[i].value);
    return STR_EMPTY;
}
