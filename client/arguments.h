/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - the words and options of a command, read by the command's usage text: "TABLE [FILTER] [--limit N] [--tokens]".
 *
 * The text is the only place that names a command's options: it is printed as help, it completes words in a shell, and arguments are
 * read by it. In it a word that begins with a dash is an option; an upper-case word behind the option is its value. Pure but for
 * the messages on standard error.
 */
#ifndef CLIENT_ARGUMENTS_H
#define CLIENT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { ARGUMENTS_MAX_WORDS = 264, ARGUMENTS_MAX_OPTIONS = 16 };

struct arguments {
    const char *command; /* for messages */
    char *words[ARGUMENTS_MAX_WORDS];
    int count;
    struct {
        struct str name;
        const char *value; /* "" for an option without a value */
    } options[ARGUMENTS_MAX_OPTIONS];
    int option_count;
};

/* The next option of a usage text; *rest moves behind it. false: there are no more. */
bool arguments_next_option(struct str *rest, struct str *name, bool *has_value);

/*
 * Read argv: options anywhere, as "--limit 5" or "--limit=5"; what follows "--" is words. `out` has its command set. false: standard
 * error says what is wrong.
 */
bool arguments_read(const char *usage, int argc, char **argv, struct arguments *out);

/* The value of an option; NULL: it was not given. */
const char *arguments_value(const struct arguments *arguments, const char *name);

/* A number from 1 to max. false: standard error says that it is none. Not given: *out stays as it is. */
bool arguments_number(const struct arguments *arguments, const char *name, int64_t max, int64_t *out);

#endif
