/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.c - the capacity doubles when it is too small; in an arena the old bytes stay until the arena
 * is released.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BYTES = 128 };

void buf_init(struct buf *buf, struct arena *arena)
{
    *buf = (struct buf){ .arena = arena };
}

void buf_cleanup(struct buf *buf)
{
    if (!buf->arena)
        free(buf->data);
    *buf = (struct buf){ .arena = buf->arena };
}

char *buf_reserve(struct buf *buf, size_t bytes)
{
    size_t wanted, capacity = buf->capacity ? buf->capacity : FIRST_BYTES;

    if (__builtin_add_overflow(buf->len, bytes, &wanted))
        abort();
    if (wanted <= buf->capacity)
        return buf->data + buf->len;
    while (capacity < wanted)
        capacity = capacity > SIZE_MAX / 2 ? wanted : capacity * 2;
    if (buf->arena) {
        char *moved = arena_alloc(buf->arena, capacity);

        if (buf->len > 0)
            memcpy(moved, buf->data, buf->len);
        buf->data = moved;
    } else {
        buf->data = xrealloc(buf->data, capacity);
    }
    buf->capacity = capacity;
    return buf->data + buf->len;
}

char *buf_extend(struct buf *buf, size_t bytes)
{
    char *begin = buf_reserve(buf, bytes);

    buf->len += bytes;
    return begin;
}

void buf_append(struct buf *buf, struct str text)
{
    if (text.len > 0)
        memcpy(buf_extend(buf, text.len), text.data, text.len);
}

void buf_append_byte(struct buf *buf, uint8_t byte)
{
    *buf_extend(buf, 1) = (char)byte;
}

void buf_format(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    int len;

    va_start(args, format);
    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len > 0) {
        vsnprintf(buf_reserve(buf, (size_t)len + 1), (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}
