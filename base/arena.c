/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - blocks in a list, the newest first; objects larger than a quarter block get one of
 * their own.
 */
#include "base/arena.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ONE_BLOCK_PER_OBJECT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ONE_BLOCK_PER_OBJECT 1
#endif
#endif
#ifndef ARENA_ONE_BLOCK_PER_OBJECT
#define ARENA_ONE_BLOCK_PER_OBJECT 0
#endif

enum {
    FIRST_BLOCK_BYTES = 4096 - 64,
    FORMATTED_BYTES = 256,
    LARGEST_BLOCK_BYTES = 256 * 1024 - 64,
    KEPT_BYTES = 16 * 1024 * 1024,
    /* a larger object is mapped on its own, and unmapped when it is freed */
    MAPPED_BYTES = 1024 * 1024,
};

struct arena_block {
    struct arena_block *older;
    max_align_t data[];
};

static void end_out_of_memory(size_t bytes)
{
    fprintf(stderr, "out of memory: %zu bytes\n", bytes);
    abort();
}

void *xmalloc(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (!memory)
        end_out_of_memory(bytes);
    return memory;
}

void *xcalloc(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);

    if (!memory)
        end_out_of_memory(bytes);
    return memory;
}

void *xrealloc(void *memory, size_t bytes)
{
    void *moved = realloc(memory, bytes ? bytes : 1);

    if (!moved)
        end_out_of_memory(bytes);
    return moved;
}

void memory_keep(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
#endif
}

void arena_init(struct arena *arena)
{
    *arena = (struct arena){ .block_bytes = FIRST_BLOCK_BYTES };
}

static void free_blocks_until(struct arena *arena, const struct arena_block *until)
{
    struct arena_block *block = arena->blocks;

    while (block != until) {
        struct arena_block *older = block->older;

        free(block);
        block = older;
    }
}

void arena_cleanup(struct arena *arena)
{
    free_blocks_until(arena, NULL);
    arena_init(arena);
}

void arena_rewind(struct arena *arena, const struct arena *then)
{
    free_blocks_until(arena, then->blocks);
    *arena = *then;
}

static struct arena_block *block_new(struct arena *arena, size_t bytes)
{
    struct arena_block *block;

    if (bytes > SIZE_MAX - sizeof(*block))
        end_out_of_memory(bytes);
    block = xmalloc(sizeof(*block) + bytes);
    block->older = arena->blocks;
    arena->blocks = block;
    arena->held_bytes += bytes;
    return block;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    const size_t align = _Alignof(max_align_t);
    char *memory;

    if (bytes > SIZE_MAX - align)
        end_out_of_memory(bytes);
    if (ARENA_ONE_BLOCK_PER_OBJECT)
        return block_new(arena, bytes)->data;

    bytes = (bytes + align - 1) & ~(align - 1);
    if ((size_t)(arena->end - arena->next) < bytes) {
        size_t size = arena->block_bytes ? arena->block_bytes : FIRST_BLOCK_BYTES;

        if (bytes > size / 4)
            return block_new(arena, bytes)->data;
        arena->next = (char *)block_new(arena, size)->data;
        arena->end = arena->next + size;
        if (size * 2 <= LARGEST_BLOCK_BYTES)
            arena->block_bytes = size * 2;
    }
    memory = arena->next;
    arena->next += bytes;
    return memory;
}

void *arena_calloc(struct arena *arena, size_t count, size_t bytes)
{
    size_t total;
    void *memory;

    if (__builtin_mul_overflow(count, bytes, &total))
        end_out_of_memory(bytes);
    memory = arena_alloc(arena, total);
    memset(memory, 0, total);
    return memory;
}

struct str arena_copy(struct arena *arena, struct str text)
{
    char *copy = arena_alloc(arena, text.len + 1);

    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return str_of_bytes(copy, text.len);
}

struct str arena_format(struct arena *arena, const char *format, ...)
{
    char first[FORMATTED_BYTES]; /* most texts fit, and need not be formatted twice */
    va_list args, again;
    int len;
    char *text;

    va_start(args, format);
    va_copy(again, args);
    len = vsnprintf(first, sizeof(first), format, args);
    va_end(args);
    if (len < 0)
        len = 0;
    text = arena_alloc(arena, (size_t)len + 1);
    if ((size_t)len < sizeof(first))
        memcpy(text, first, (size_t)len + 1);
    else
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return str_of_bytes(text, (size_t)len);
}

struct str arena_join(struct arena *arena, const struct str *parts, size_t count)
{
    size_t len = 0;
    char *text, *end;

    for (size_t i = 0; i < count; i++)
        len += parts[i].len;
    text = end = arena_alloc(arena, len + 1);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(end, parts[i].data, parts[i].len);
        end += parts[i].len;
    }
    *end = '\0';
    return str_of_bytes(text, len);
}
