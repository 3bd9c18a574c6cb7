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

/*
 * Make room for that many more bytes, and return where they go. The length does not change: see
 * buf_extend.
 */
char *buf_reserve(struct buf *buf, size_t bytes);

/* Increase the length by that many bytes, with undefined contents, and return where they begin. */
char *buf_extend(struct buf *buf, size_t bytes);

void buf_append(struct buf *buf, struct str text);
void buf_append_byte(struct buf *buf, uint8_t byte);
__attribute__((format(printf, 2, 3))) void buf_format(struct buf *buf, const char *format, ...);

static inline struct str buf_str(const struct buf *buf)
{
    return str_of_bytes(buf->data, buf->len);
}

#endif
