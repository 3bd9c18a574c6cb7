/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - the words and options of a command, as the command's usage text declares them: "TABLE
 * [FILTER] [--limit N] [--tokens]".
 *
 * Only the usage text names a command's options: help prints it, shell completion is made from it, and the
 * arguments are checked against it. In the text, a word that begins with a dash is an option; a word behind an option,
 * as FORM in "[-o FORM]" or on|off in "[--change-feed on|off]", is the option's value. Pure, except for messages on
 * standard error.
 */
#ifndef CLIENT_ARGUMENTS_H
#define CLIENT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { ARGUMENTS_MAX_WORDS = 264, ARGUMENTS_MAX_OPTIONS = 16 };

struct arguments {
    const char *command; /* the command, for messages */
    char *words[ARGUMENTS_MAX_WORDS];
    int count;
    struct {
        struct str name;
        const char *value; /* "" for an option that takes no value */
    } options[ARGUMENTS_MAX_OPTIONS];
    int option_count;
};

/* Take the next option off a usage text. false: there is no further option. */
bool arguments_next_option(struct str *rest, struct str *name, bool *has_value);

/* Whether a usage text has the option. */
bool arguments_declares(const char *usage, const char *option);

/*
 * Read argv. Options may stand anywhere, as "--limit 5" or "--limit=5"; all arguments behind "--" are words.
 * The caller sets out->command. false: an argument is wrong; the cause is on standard error.
 */
bool arguments_read(const char *usage, int argc, char **argv, struct arguments *out);

/* The value of an option; NULL: it was not given. */
const char *arguments_value(const struct arguments *arguments, const char *name);

/*
 * Read an option's number, 1 to max. If the option was not given, *out stays as it is. false: not such a
 * number; the cause is on standard error.
 */
bool arguments_number(const struct arguments *arguments, const char *name, int64_t max, int64_t *out);

/*
 * Read an option whose value is one of these words; behind the last one stands NULL. *out: its position. If the option
 * was not given, *out stays as it is. false: another word; standard error has the cause, and all that are allowed.
 */
bool arguments_choice(
    const struct arguments *arguments, const char *name, const char *const *words, size_t *out);

#endif
