/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.h - what a gzip stream says of itself.
 */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include "base/str.h"

/*
 * The inflated length, modulo 2^32, with which a gzip stream ends (RFC 1952, 2.3.1). The sender may have written
 * any number there, which is found out by inflating the stream. 0: there is no room for it.
 */
static inline size_t gzip_length(struct str stream)
{
    const unsigned char *end = (const unsigned char *)stream.data + stream.len;

    if (stream.len < sizeof(uint32_t))
        return 0;
    return (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
}

#endif
