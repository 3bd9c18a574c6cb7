/*
 * environment.h - which program of the stack gets which variables.
 *
 * A child gets a few variables of the system and, of those that begin with TAVOLA_, the ones it knows: it
 * refuses all others. Every program says what it knows by --print-settings.
 */
#ifndef CLIENT_DEV_ENVIRONMENT_H
#define CLIENT_DEV_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* A program of the stack and the names of its settings. */
struct program {
    const char *name; /* "tavolad" */
    const char *path; /* beside this program */
    const char **settings;
    size_t count;
};

struct variable {
    const char *name;
    const char *value;
};

/* Find the program beside this one and ask it for its settings. */
MUST_USE enum status program_open(
    const char *name, struct arena *arena, struct program *out, struct error *err);

bool program_knows(const struct program *program, const char *setting);

/*
 * The environment of a program: ours, as far as it knows it, under the given variables (those it does not
 * know are left out). program NULL: one that is not ours, without any setting.
 */
char **environment_for(
    const struct program *program, const struct variable *variables, size_t count, struct arena *arena);

/* The whole of our environment with the given variables in place of what they were. */
char **environment_with(const struct variable *variables, size_t count, struct arena *arena);

/*
 * STATUS_INVALID: a variable with our prefix that none of these programs nor the command line knows; the
 * message names it and the nearest one.
 */
MUST_USE enum status environment_check(
    const struct program *programs, size_t count, struct arena *arena, struct error *err);

#endif
