/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_words.h - a line of `tavola shell` as words. Pure.
 *
 * Blanks separate words. Single quotes hold any text; in double quotes and outside of quotes a backslash
 * takes the next character as it is. A word that begins with { goes to its closing bracket, so that JSON
 * needs no quotes. # begins a comment.
 */
#ifndef CLIENT_SHELL_SHELL_WORDS_H
#define CLIENT_SHELL_SHELL_WORDS_H

#include "base/arena.h"

enum { SHELL_MAX_WORDS = 512 };

/*
 * Split a line into words in the arena, with NULL behind the last one. Returns their number; -1: a quote or
 * bracket is not closed, or there are more than SHELL_MAX_WORDS words.
 */
int shell_words_split(const char *line, struct arena *arena, char *out[static SHELL_MAX_WORDS + 1]);

#endif
