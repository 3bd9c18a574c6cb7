/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - the memory of one call or message: objects are allocated one by one and released
 * together.
 *
 * An arena is used by one thread at a time. Running out of memory ends the process: everything the
 * program must keep is in PostgreSQL, so a crash is safe, and a process that cannot allocate a few
 * kilobytes cannot answer properly either. Sizes that come from outside are bounded before they get
 * here.
 *
 * Under AddressSanitizer every object is a malloc of its own, so that overruns are detected.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *blocks;
    char *next;
    char *end;
    size_t block_bytes;
    size_t held_bytes; /* of all blocks: about what the arena costs */
};

/*
 * Call once, at the start of a server: the allocator then keeps freed memory, up to 16 MiB per
 * thread. Memory that goes back to the kernel costs a page fault per page when it is used again,
 * which is the largest cost of a large entity.
 */
void memory_keep(void);

void arena_init(struct arena *arena);

/* Release everything; the arena is as after arena_init. Accepts a zeroed arena. */
void arena_cleanup(struct arena *arena);

/* Release everything that was allocated since `then`, a copy of the struct arena, was made. */
void arena_rewind(struct arena *arena, const struct arena *then);

/* Memory aligned for any type, contents undefined; never NULL. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* Zeroed memory for count objects; never NULL. If the product overflows, the process ends. */
void *arena_calloc(struct arena *arena, size_t count, size_t bytes);

/* A copy of the bytes with a NUL behind them (not counted). */
struct str arena_copy(struct arena *arena, struct str text);

/* printf into the arena; NUL terminated. */
__attribute__((format(printf, 2, 3))) struct str arena_format(struct arena *arena, const char *format, ...);

/* The texts one after the other, with a NUL behind them (not counted): much cheaper than arena_format. */
struct str arena_join(struct arena *arena, const struct str *parts, size_t count);

#define ARENA_JOIN(arena, ...)                                                                               \
    arena_join((arena), (const struct str[]){ __VA_ARGS__ },                                                 \
        sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))

#define ARENA_NEW(arena, type) ((type *)arena_calloc((arena), 1, sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_calloc((arena), (count), sizeof(type)))

/*
 * malloc, calloc and realloc for objects that outlive a call. Never NULL: they end the process if
 * memory runs out.
 */
void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *memory, size_t bytes);

/* Declares an arena that is released at the end of the block. Call arena_init before any use. */
#define ARENA_SCOPE __attribute__((cleanup(arena_cleanup))) struct arena

#endif
