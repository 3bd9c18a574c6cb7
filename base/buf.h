/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h - bytes that grow at their end, in an arena or on the heap.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct buf {
    struct arena *arena; /* NULL: on the heap, released by buf_cleanup */
    char *data;
    size_t len;
    size_t capacity;
};

/* An empty buffer; arena may be NULL. */
void buf_init(struct buf *buf, struct arena *arena);
void buf_cleanup(struct buf *buf);

/* buf_reserve where there is no room. */
char *buf_grow(struct buf *buf, size_t bytes);

/*
 * Make room for that many more bytes, and return where they go. The length does not change: see
 * buf_extend.
 */
static inline char *buf_reserve(struct buf *buf, size_t bytes)
{
    return bytes <= buf->capacity - buf->len && buf->data ? buf->data + buf->len : buf_grow(buf, bytes);
}

/* Increase the length by that many bytes, with undefined contents, and return where they begin. */
static inline char *buf_extend(struct buf *buf, size_t bytes)
{
    char *begin = buf_reserve(buf, bytes);

    buf->len += bytes;
    return begin;
}

static inline void buf_append(struct buf *buf, struct str text)
{
    if (text.len > 0)
        memcpy(buf_extend(buf, text.len), text.data, text.len);
}

static inline void buf_append_byte(struct buf *buf, uint8_t byte)
{
    *buf_extend(buf, 1) = (char)byte;
}

__attribute__((format(printf, 2, 3))) void buf_format(struct buf *buf, const char *format, ...);

/* Append the texts one after the other: much cheaper than buf_format. */
void buf_join(struct buf *buf, const struct str *parts, size_t count);

#define BUF_JOIN(buf, ...)                                                                                   \
    buf_join((buf), (const struct str[]){ __VA_ARGS__ },                                                     \
        sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))

static inline struct str buf_str(const struct buf *buf)
{
    return str_of_bytes(buf->data, buf->len);
}

#endif
