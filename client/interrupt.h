/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - handles Ctrl-C for commands that must finish something first: a thread waits for the signal.
 */
#ifndef CLIENT_INTERRUPT_H
#define CLIENT_INTERRUPT_H

#include <stdbool.h>

/* The exit code of a command that was interrupted. */
enum { INTERRUPT_EXIT = 130 };

/*
 * From now on the first Ctrl-C or SIGTERM is only noted; the second one ends the program. Call it once,
 * before other threads are started, as calls_open does. Each further call forgets the signal that was noted.
 */
void interrupt_catch(void);

/*
 * Call `run` in a thread of its own when a signal comes; if one has come already, at once. NULL: call nothing
 * from now on.
 */
void interrupt_run(void (*run)(void *context), void *context);

/*
 * End the program by SIGPIPE as soon as the reader of its standard output has closed it. For commands that write
 * rarely: another one gets the signal at its next write.
 */
void interrupt_on_closed_output(void);

/* Whether a signal has come. Any thread may call it. */
bool interrupt_came(void);

#endif
