/* SPDX-License-Identifier: Apache-2.0 */
/* helper.c - see the header. */
#include "rpc/helper.h"

#include <assert.h>

#include "base/clock.h"
#include "base/condition.h"

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

void helper_init(struct helper *helper, int threads)
{
    pthread_mutex_init(&helper->lock, NULL);
    condition_init(&helper->changed);
    helper->pace = (struct help_pace){ .threads = threads };
}

void helper_destroy(struct helper *helper)
{
    pthread_cond_destroy(&helper->changed);
    pthread_mutex_destroy(&helper->lock);
}

void helper_join(struct helper *helper)
{
    clockid_t clock;
    int failed = pthread_getcpuclockid(pthread_self(), &clock);

    assert(!failed);
    (void)failed;
    pthread_mutex_lock(&helper->lock);
    assert(helper->clock_count < HELPER_MAX_CLOCKS);
    helper->clocks[helper->clock_count++] = clock;
    pthread_mutex_unlock(&helper->lock);
}

/* Enter with the lock held. A thread whose clock cannot be read has ended, and counts no more. */
static int64_t cpu_us(const struct helper *helper)
{
    int64_t out = 0;

    for (int i = 0; i < helper->clock_count; i++) {
        struct timespec used;

        if (clock_gettime(helper->clocks[i], &used) == 0)
            out += used.tv_sec * US_PER_S + used.tv_nsec / NS_PER_US;
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

void helper_look(struct helper *helper)
{
    int64_t now_us;

    if (helper->pace.threads == 0 || pthread_mutex_trylock(&helper->lock) != 0)
        return; /* there is no helper, or another thread looks */
    now_us = clock_monotonic_us();
    if (!helper->released && help_pace_is_due(&helper->pace, now_us))
        set_needed(helper, help_pace_note(&helper->pace, now_us, cpu_us(helper)));
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
