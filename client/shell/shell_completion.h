/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_completion.h - what can stand next in a line of `tavola shell`, by the table of commands. Pure.
 */
#ifndef CLIENT_SHELL_SHELL_COMPLETION_H
#define CLIENT_SHELL_SHELL_COMPLETION_H

#include <stddef.h>

enum { SHELL_MAX_CHOICES = 64, SHELL_CHOICE_BYTES = 48 };

struct shell_choices {
    char words[SHELL_MAX_CHOICES][SHELL_CHOICE_BYTES];
    size_t count;
    size_t typed; /* how many characters of them the line has */
};

/* Fill out with the words that the end of the line can become: commands, their second words, options. */
void shell_completion_find(const char *line, struct shell_choices *out);

/* The number of characters, behind those typed, that all choices have in common. */
size_t shell_completion_common(const struct shell_choices *choices);

#endif
