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

/* A received message, and contiguous memory to read it from. All members zero: no message. */
struct bytes {
    grpc_byte_buffer *buffer; /* NULL: no message */
    grpc_slice joined;        /* a copy in one piece, if the buffer is in several pieces */
    bool is_joined;
    size_t inflated; /* bytes that bytes_open has inflated, even if bytes_open failed */
};

enum bytes_opened {
    BYTES_OPENED,
    BYTES_TOO_LARGE, /* the message, or its inflated form, has more than max_bytes */
    BYTES_DAMAGED,   /* the message is marked as compressed, but cannot be inflated */
};

/* Does bytes_open have to inflate the message? */
bool bytes_is_compressed(const struct bytes *bytes);

/*
 * Check the size of the message and inflate it if it is compressed (gzip, deflate). Call it once per message,
 * before bytes_view.
 */
enum bytes_opened bytes_open(struct bytes *bytes, size_t max_bytes);

/* The message in one piece, borrowed until bytes_release. The buffer must not be NULL. */
struct str bytes_view(struct bytes *bytes);

/* Free the message and set all members to zero. Accepts an object without a message. */
void bytes_release(struct bytes *bytes);

/* Returns a copy of the message; free it with grpc_byte_buffer_destroy. */
grpc_byte_buffer *bytes_copy(struct str message);

/*
 * bytes_slice returns a copy of the text; free it with grpc_slice_unref. bytes_of_slice borrows from *slice.
 */
grpc_slice bytes_slice(struct str text);
struct str bytes_of_slice(const grpc_slice *slice);

/* The first value of a metadata key, borrowed from the array; empty if the array does not have the key. */
struct str bytes_metadata(const grpc_metadata_array *array, struct str key);

#endif
