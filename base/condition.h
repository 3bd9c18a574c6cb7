/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition.h - condition variables whose deadlines are times of clock_monotonic_us, so that a
 * change of the system's clock neither ends nor extends a wait.
 */
#ifndef BASE_CONDITION_H
#define BASE_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Initialise; released with pthread_cond_destroy, signalled with pthread_cond_signal and
 * _broadcast.
 */
void condition_init(pthread_cond_t *condition);

/*
 * Wait until the condition is signalled or the deadline has passed. The mutex is locked before and
 * after.
 *
 * true   the condition was signalled, or the thread woke for no reason: look at what is waited for, and wait again
 * false  the deadline has passed
 */
bool condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline_us);

#endif
