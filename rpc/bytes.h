/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - converts between struct str and the core's slices and byte buffers. Internal to rpc/.
 */
#ifndef RPC_BYTES_H
#define RPC_BYTES_H

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <stdbool.h>

#include "base/str.h"

/* A received message, and the contiguous memory that it is read from. Zeroed: no message. */
struct bytes {
    grpc_byte_buffer *buffer; /* NULL: no message */
    grpc_slice joined;        /* a copy in one piece, when the buffer is in several */
    bool is_joined;
    size_t inflated; /* bytes that bytes_open made of a compressed message, also if it failed */
};

enum bytes_opened {
    BYTES_OPENED,
    BYTES_TOO_LARGE, /* the message, or what it inflates to, has more than max_bytes */
    BYTES_DAMAGED,   /* it is compressed, and not as its caller says */
};

/* Does bytes_open have to inflate the message? */
bool bytes_is_compressed(const struct bytes *bytes);

/* Once for a message, before bytes_view: check its size, and inflate it if it is compressed (gzip, deflate). */
enum bytes_opened bytes_open(struct bytes *bytes, size_t max_bytes);

/* The message in one piece, borrowed until bytes_release. The buffer must not be NULL. */
struct str bytes_view(struct bytes *bytes);

/* Free the message and set bytes to zero. Accepts a zeroed one. */
void bytes_release(struct bytes *bytes);

/* A copy of the message, for grpc_byte_buffer_destroy. */
grpc_byte_buffer *bytes_copy(struct str message);

/* A copy of the text, for grpc_slice_unref; and the view of a slice, borrowed from *slice. */
grpc_slice bytes_slice(struct str text);
struct str bytes_of_slice(const grpc_slice *slice);

/* The first value of a metadata key, borrowed from the array; empty when it is not there. */
struct str bytes_metadata(const grpc_metadata_array *array, struct str key);

#endif
