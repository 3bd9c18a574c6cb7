/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_line.h - lines from a person, with libedit: editing, history, completion. The only place with its
 * header.
 */
#ifndef CLIENT_SHELL_SHELL_LINE_H
#define CLIENT_SHELL_SHELL_LINE_H

#include <stdbool.h>

struct shell_line;

/*
 * Begin to read from the terminal; the history is that of $XDG_STATE_HOME/tavola/history, or of
 * ~/.local/state/tavola/history, which only its owner can read. shell_line_close ends it and writes the
 * history. NULL: the terminal cannot be used.
 */
struct shell_line *shell_line_open(void);
void shell_line_close(struct shell_line *line);

/* The next line, borrowed until the next call. NULL: the input has ended. */
const char *shell_line_read(struct shell_line *line);

#endif
