/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.c - see the header. Each thread asks the kernel for many bits at once, since a call needs some for
 * its ids. A process that was forked must not have those of its parent.
 */
#include "base/random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/random.h>

#include "base/clock.h"

enum { KEPT = 32 }; /* at most 256 bytes: getrandom then gives all of them, whatever signals arrive */

static atomic_uint forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Thread_local struct {
    uint64_t bits[KEPT];
    size_t left;
    unsigned forks; /* the value of `forks` when the bits were made */
} kept;

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork);
}

static bool refill_kept(void)
{
    (void)pthread_once(&once, watch_forks);
    kept.forks = atomic_load(&forks);
    kept.left = 0;
    if (getrandom(kept.bits, sizeof(kept.bits), 0) != (ssize_t)sizeof(kept.bits))
        return false;
    kept.left = KEPT;
    return true;
}

uint64_t random_bits(void)
{
    if ((kept.left == 0 || kept.forks != atomic_load(&forks)) && !refill_kept())
        return (uint64_t)clock_monotonic_us();
    return kept.bits[--kept.left];
}
