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

char *buf_grow(struct buf *buf, size_t bytes)
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

void buf_format(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    size_t room;
    char *end;
    int len;

    va_start(args, format);
    va_copy(again, args);
    end = buf_reserve(buf, 1);
    room = buf->capacity - buf->len;
    len = vsnprintf(end, room, format, args);
    va_end(args);
    if (len > 0 && (size_t)len >= room)
        vsnprintf(buf_reserve(buf, (size_t)len + 1), (size_t)len + 1, format, again);
    va_end(again);
    buf->len += len > 0 ? (size_t)len : 0;
}

void buf_join(struct buf *buf, const struct str *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_append(buf, parts[i]);
}
