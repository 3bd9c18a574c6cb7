/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.c - see the header.
 */
#include "client/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static struct {
    sigset_t signals;
    void (*run)(void *context);
    void *context;
    atomic_bool came;
} interrupt;

static void *wait_for_signals(void *ignored)
{
    int number;

    sigwait(&interrupt.signals, &number);
    atomic_store(&interrupt.came, true);
    if (interrupt.run)
        interrupt.run(interrupt.context);
    sigwait(&interrupt.signals, &number);
    _exit(INTERRUPT_EXIT);
    return ignored;
}

void interrupt_catch(void (*run)(void *context), void *context)
{
    pthread_t thread;

    interrupt.run = run;
    interrupt.context = context;
    sigemptyset(&interrupt.signals);
    sigaddset(&interrupt.signals, SIGINT);
    sigaddset(&interrupt.signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &interrupt.signals, NULL);
    if (pthread_create(&thread, NULL, wait_for_signals, NULL) != 0)
        pthread_sigmask(SIG_UNBLOCK, &interrupt.signals, NULL);
    else
        pthread_detach(thread);
}

bool interrupt_came(void)
{
    return atomic_load(&interrupt.came);
}
