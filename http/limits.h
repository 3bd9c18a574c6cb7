/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - the limits of a listener that its owner has left at 0.
 */
#ifndef HTTP_LIMITS_H
#define HTTP_LIMITS_H

enum {
    HTTP_MAX_CONNECTIONS = 1024,
    HTTP_MAX_HEADER_BYTES = 16 * 1024,
    HTTP_MAX_BODY_BYTES = 4 * 1024 * 1024,
    HTTP_FIRST_REQUEST_MS = 20 * 1000,
    HTTP_IDLE_MS = 75 * 1000,
    HTTP_BODY_MS = 30 * 1000,
    HTTP_MIN_GZIP_BYTES = 1024, /* replies of fewer bytes are not compressed */
    HTTP_MIN_BYTES_PER_MS = 64, /* a client that reads a reply more slowly than this is hung up on */
};

#endif
