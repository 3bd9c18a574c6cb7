/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator.c - see the header.
 *
 * A call takes about fifty blocks, 12 kB in all, most of them in gRPC's core. The C library keeps seven freed blocks of
 * a size per thread for the next request; all others it merges with their neighbours and takes the oldest first. With
 * thousands of open calls each new call then gets memory that lies all over a heap of a hundred megabytes, which is
 * not in the processor's caches. jemalloc keeps freed blocks by size and takes the latest, at low addresses. In an
 * overload of ten times a Get costs the server 14 us instead of 20, and with 256 calls in flight as much as before:
 * docs/performance-experiments.md, "What an overload still costs".
 */
#include "service/admission/allocator.h"

#include <malloc.h>
#include <stddef.h>

/* Of jemalloc, whose header is not needed to build; NULL without it. 4096 stands for all of its arenas. */
extern int mallctl(const char *name, void *old_value, size_t *old_bytes, void *new_value, size_t new_bytes)
    __attribute__((weak));

/*
 * jemalloc reads this when it starts. A thread of its own gives memory back that has not been used for seconds, also
 * if no more calls come.
 */
extern const char *malloc_conf;
const char *malloc_conf = "background_thread:true,dirty_decay_ms:5000,muzzy_decay_ms:0";

void allocator_give_back(void)
{
    if (mallctl)
        (void)mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
    else
        malloc_trim(0);
}
