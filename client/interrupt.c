/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.c - see the header.
 */
#include "client/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static struct {
    sigset_t signals;
    atomic_bool came;
    pthread_mutex_t lock; /* guards the members below; held while `run` is called */
    void (*run)(void *context);
    void *context;
} interrupt = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *wait_for_signals(void *ignored)
{
    int number;

    for (;;) {
        sigwait(&interrupt.signals, &number);
        if (atomic_exchange(&interrupt.came, true))
            _exit(INTERRUPT_EXIT);
        pthread_mutex_lock(&interrupt.lock);
        if (interrupt.run)
            interrupt.run(interrupt.context);
        pthread_mutex_unlock(&interrupt.lock);
    }
    return ignored;
}

void interrupt_catch(void)
{
    static bool is_caught;
    pthread_t thread;

    atomic_store(&interrupt.came, false);
    if (is_caught)
        return;
    sigemptyset(&interrupt.signals);
    sigaddset(&interrupt.signals, SIGINT);
    sigaddset(&interrupt.signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &interrupt.signals, NULL);
    is_caught = pthread_create(&thread, NULL, wait_for_signals, NULL) == 0;
    if (is_caught)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &interrupt.signals, NULL);
}

void interrupt_run(void (*run)(void *context), void *context)
{
    pthread_mutex_lock(&interrupt.lock);
    interrupt.run = run;
    interrupt.context = context;
    if (run && interrupt_came())
        run(context);
    pthread_mutex_unlock(&interrupt.lock);
}

/* poll reports errors without being asked for events: for a pipe or terminal, that its other end is closed. */
static void *wait_for_closed_output(void *ignored)
{
    struct pollfd output = { .fd = STDOUT_FILENO };

    while (poll(&output, 1, -1) < 0)
        continue;
    if ((output.revents & (POLLERR | POLLHUP)) == 0)
        return ignored;
    (void)raise(SIGPIPE);
    _exit(1); /* the program was started with SIGPIPE ignored */
}

void interrupt_on_closed_output(void)
{
    static bool is_watched;
    pthread_t thread;

    if (is_watched)
        return;
    is_watched = pthread_create(&thread, NULL, wait_for_closed_output, NULL) == 0;
    if (is_watched)
        pthread_detach(thread);
}

bool interrupt_came(void)
{
    return atomic_load(&interrupt.came);
}
