/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the settings of a program: one table, read from the environment once.
 *
 * A program describes its settings as a table of struct config_setting over a struct of its own and
 * gets parsing, checks, --help, --version, --print-config and --print-settings from it:
 *
 *     struct service_config {
 *         const char *listen;
 *         int64_t threads;
 *         int authentication;
 *     };
 *
 *     static const char *const authentications[] = { "none", "keys", NULL };
 *
 *     static const struct config_setting settings[] = {
 *         { .name = "TAVOLA_LISTEN",
 *           .type = CONFIG_STRING,
 *           .offset = offsetof(struct service_config, listen),
 *           .fallback = "127.0.0.1:50051",
 *           .help = "address to serve on: host:port or unix:/path" },
 *         { .name = "TAVOLA_THREADS",
 *           .type = CONFIG_INT,
 *           .offset = offsetof(struct service_config, threads),
 *           .fallback = "2",
 *           .min = 1,
 *           .max = 64,
 *           .help = "queue threads" },
 *         { .name = "TAVOLA_AUTHENTICATION",
 *           .type = CONFIG_CHOICE,
 *           .offset = offsetof(struct service_config, authentication),
 *           .fallback = "keys",
 *           .choices = authentications,
 *           .help = "how callers prove their identity" },
 *     };
 *
 *     int main(int argc, char **argv)
 *     {
 *         struct service_config config;
 *         int exit_code;
 *
 *         if (!config_start(&program, argc, argv, &config, &exit_code))
 *             return exit_code;
 *         ...
 *     }
 *
 * Every variable that begins with TAVOLA_ must be a setting of some program of the product, so that
 * one file of settings can serve them all: a misspelt one stops the start instead of being ignored.
 * A variable that is set to nothing counts as not set. Strings borrow the environment.
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/macros.h"

#define CONFIG_PREFIX "TAVOLA_"

enum config_type {
    CONFIG_STRING, /* field: const char *; NULL when not set and without a default */
    CONFIG_SECRET, /* as CONFIG_STRING; its value is never printed */
    CONFIG_INT,    /* field: int64_t, in min..max */
    CONFIG_CHOICE, /* field: int, the position in choices */
};

struct config_setting {
    const char *name; /* with the prefix */
    enum config_type type;
    size_t offset;              /* of the field in the program's struct */
    const char *fallback;       /* the default as text; NULL: none */
    bool required;              /* it has no default and must be set */
    int64_t min, max;           /* CONFIG_INT */
    const char *unit;           /* CONFIG_INT: "ms", "bytes"; may be NULL */
    const char *const *choices; /* CONFIG_CHOICE; ended by NULL */

    /* Strings and secrets: a check of the value, and the allowed values in words. May be NULL. */
    bool (*accepts)(const char *value);
    const char *allowed;

    const char *help; /* one line, lower case, no full stop */
};

struct config_program {
    const char *name;    /* "tavolad" */
    const char *version; /* TAVOLA_VERSION */
    const char *summary; /* one line for --help */
    const struct config_setting *settings;
    size_t count;
};

/*
 * The settings of all programs, ended by NULL: cmake/known_settings.cmake makes it from their
 * tables.
 */
extern const char *const config_known[];

/*
 * Fill out from the environment (as in environ). One line is appended to problems for each thing
 * that is wrong - which setting, why, what is allowed - and their number is returned; 0: out is
 * complete.
 */
MUST_USE size_t config_load(
    const struct config_program *program, char *const *environment, void *out, struct buf *problems);

/*
 * The beginning of main(): handle the options above, then call config_load; problems go to standard
 * error.
 *
 * true: the program runs with the settings in out. false: main returns *exit_code: 0 after --help
 * and the other options, 2 after a problem.
 */
MUST_USE bool config_start(
    const struct config_program *program, int argc, char **argv, void *out, int *exit_code);

/* Print the settings as --help does, for a program that has its own help text. */
void config_print_settings_help(const struct config_program *program);

/*
 * "host:port", "[ipv6]:port" or "unix:/path": for `accepts`, with CONFIG_ADDRESS_ALLOWED as
 * `allowed`.
 */
bool config_is_address(const char *value);
#define CONFIG_ADDRESS_ALLOWED "host:port with a port of 0..65535, [ipv6]:port, or unix:/absolute/path"

/* The most similar name, for suggestions; NULL: none is similar. */
const char *config_nearest(const char *name, const char *const *names, size_t count);

#endif
