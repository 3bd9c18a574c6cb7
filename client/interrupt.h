/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - Ctrl-C for commands that have something to finish: a thread waits for the signal.
 */
#ifndef CLIENT_INTERRUPT_H
#define CLIENT_INTERRUPT_H

#include <stdbool.h>

/* The exit code of a command that was interrupted. */
enum { INTERRUPT_EXIT = 130 };

/*
 * From now on Ctrl-C and SIGTERM do not end the program: the first one is noted, the second one ends the program. Once, before other
 * threads are started, as api_client_open does.
 */
void interrupt_catch(void);

/* Let run run when a signal comes, in a thread of its own; at once, if one has come. run NULL: nothing, from now on. */
void interrupt_run(void (*run)(void *context), void *context);

/* Whether a signal has come. Any thread. */
bool interrupt_came(void);

#endif
