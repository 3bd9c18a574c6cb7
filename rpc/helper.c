/* SPDX-License-Identifier: Apache-2.0 */
/* helper.c - see the header. */
#include "rpc/helper.h"

#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/digits.h"

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

void helper_init(struct helper *helper, int threads)
{
    *helper = (struct helper){ .pace = { .threads = threads } };
    pthread_mutex_init(&helper->lock, NULL);
    condition_init(&helper->changed);
}

void helper_destroy(struct helper *helper)
{
    for (int i = 0; i < helper->clock_count; i++)
        if (helper->clocks[i].schedstat >= 0)
            close(helper->clocks[i].schedstat);
    pthread_cond_destroy(&helper->changed);
    pthread_mutex_destroy(&helper->lock);
}

static struct helper_clock own_clock(void)
{
    struct helper_clock out = { .schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC) };
    int failed = pthread_getcpuclockid(pthread_self(), &out.used);

    assert(!failed);
    (void)failed;
    return out;
}

void helper_join(struct helper *helper)
{
    pthread_mutex_lock(&helper->lock);
    assert(helper->clock_count < HELPER_MAX_THREADS);
    helper->clocks[helper->clock_count++] = own_clock();
    pthread_mutex_unlock(&helper->lock);
}

/* The second number in the file, in nanoseconds: proc(5), /proc/[pid]/schedstat. 0: it cannot be read. */
static int64_t waited_us(int schedstat)
{
    char bytes[128];
    ssize_t length = schedstat >= 0 ? pread(schedstat, bytes, sizeof(bytes), 0) : 0;
    struct str text = { bytes, length > 0 ? (size_t)length : 0 };
    uint64_t waited_ns;

    (void)str_take(&text, ' ');
    return digits_take_unsigned(&text, INT64_MAX, &waited_ns) ? (int64_t)waited_ns / NS_PER_US : 0;
}

/* Enter with the lock held. A thread whose clock cannot be read has ended, and counts no more. */
static struct help_times read_times(const struct helper *helper)
{
    struct help_times out = { 0 };

    for (int i = 0; i < helper->clock_count; i++) {
        struct timespec used;

        if (clock_gettime(helper->clocks[i].used, &used) != 0)
            continue;
        out.used_us += used.tv_sec * US_PER_S + used.tv_nsec / NS_PER_US;
        out.waited_us += waited_us(helper->clocks[i].schedstat);
    }
    return out;
}

/* Enter with the lock held. */
static void set_needed(struct helper *helper, bool needed)
{
    bool was_needed = atomic_exchange(&helper->needed, needed);

    if (!needed || was_needed)
        return;
    atomic_fetch_add(&helper->begun, 1);
    pthread_cond_broadcast(&helper->changed);
}

void helper_look(struct helper *helper, int open_calls)
{
    int64_t now_us;

    if (helper->pace.threads == 0 || pthread_mutex_trylock(&helper->lock) != 0)
        return; /* there is no helper, or another thread looks */
    now_us = clock_monotonic_us();
    if (!helper->released && help_pace_is_due(&helper->pace, now_us))
        set_needed(helper, help_pace_note(&helper->pace, now_us, read_times(helper), open_calls));
    pthread_mutex_unlock(&helper->lock);
}

void helper_wait(struct helper *helper)
{
    if (atomic_load(&helper->needed))
        return;
    pthread_mutex_lock(&helper->lock);
    while (!atomic_load(&helper->needed))
        pthread_cond_wait(&helper->changed, &helper->lock);
    pthread_mutex_unlock(&helper->lock);
}

void helper_release(struct helper *helper)
{
    pthread_mutex_lock(&helper->lock);
    helper->released = true;
    atomic_store(&helper->needed, true);
    pthread_cond_broadcast(&helper->changed);
    pthread_mutex_unlock(&helper->lock);
}
