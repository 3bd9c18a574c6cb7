/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speed.c - how fast the processors are, while other programs load them.
 *
 *     bench_speed
 *
 * A virtual processor often shares a core with one of another machine and then does half as much for seconds. On each
 * processor that it may use, this program times a loop of fixed work 40 times a second, in CPU time of its own thread:
 * waiting for the processor does not count, a slow processor does. It costs 0.4 % of each. As root the loop runs before
 * all other threads.
 *
 * For each line of input it prints one: how many loops have run so far, on all processors, and how many nanoseconds
 * they took. It ends with its input.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "bench/common.h"

enum { CHAINS = 8, STEPS = 12000, PAUSE_NS = 25000000 };

static _Atomic uint64_t loops, loops_ns;

static uint64_t thread_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Chains that do not wait for each other keep all units of a core busy; one chain would not notice who shares it. */
static uint64_t work(void)
{
    uint64_t chains[CHAINS] = { 1, 2, 3, 4, 5, 6, 7, 8 }, sum = 0;

    for (uint64_t step = 0; step < STEPS; step++) {
        for (int i = 0; i < CHAINS; i++)
            chains[i] = (chains[i] + step) ^ (chains[i] >> 3);
    }
    for (int i = 0; i < CHAINS; i++)
        sum += chains[i];
    return sum;
}

static void *time_loops(void *cpu)
{
    struct sched_param first = { .sched_priority = 1 };
    struct timespec pause = { .tv_nsec = PAUSE_NS };
    volatile uint64_t kept;
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)(uintptr_t)cpu, &one);
    require(pthread_setaffinity_np(pthread_self(), sizeof(one), &one) == 0, "cannot choose a processor");
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &first); /* refused without the right to it */
    for (;;) {
        uint64_t begin = thread_ns();

        kept = work();
        (void)kept;
        loops_ns += thread_ns() - begin;
        loops++;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

int main(void)
{
    cpu_set_t allowed;
    pthread_t thread;

    require(sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "cannot tell the processors");
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed))
            require(pthread_create(&thread, NULL, time_loops, (void *)(uintptr_t)cpu) == 0, "no thread");
    }
    for (int byte; (byte = getchar()) != EOF;) {
        if (byte == '\n') {
            printf("%llu %llu\n", (unsigned long long)loops, (unsigned long long)loops_ns);
            fflush(stdout);
        }
    }
    return 0;
}
