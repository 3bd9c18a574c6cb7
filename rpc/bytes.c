/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - see the header. Small messages come in one slice and are not copied.
 */
#include "rpc/bytes.h"

#include <grpc/byte_buffer_reader.h>

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
