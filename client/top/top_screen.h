/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_screen.h - the full-screen view of `tavola top`, with ncurses: one of the files that include its
 * header.
 */
#ifndef CLIENT_TOP_TOP_SCREEN_H
#define CLIENT_TOP_TOP_SCREEN_H

#include <stdbool.h>

#include "client/lib/tavola.h"

/* Whether there is a terminal that can show it. */
bool top_screen_is_possible(void);

/*
 * Show the view until the person leaves it, also by Ctrl-C if interrupt_catch was called. target: the server,
 * for the first line. false: the terminal cannot be used.
 */
bool top_screen_run(struct tavola *client, const char *target);

#endif
