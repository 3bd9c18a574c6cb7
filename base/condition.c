/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition.c - see the header.
 */
#include "base/condition.h"

#include "base/clock.h"

void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline_us)
{
    const struct timespec deadline = clock_timespec(deadline_us);

    return pthread_cond_timedwait(condition, mutex, &deadline) == 0;
}
