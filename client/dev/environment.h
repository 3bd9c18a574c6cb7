/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h - which program of the stack gets which variables.
 *
 * A child gets a few variables of the system and, if it is one of ours, all that begin with TAVOLA_.
 */
#ifndef CLIENT_DEV_ENVIRONMENT_H
#define CLIENT_DEV_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct variable {
    const char *name;
    const char *value;
};

/* The path of a program beside this one. STATUS_UNAVAILABLE: it is not there. */
MUST_USE enum status environment_find_program(
    const char *name, struct arena *arena, const char **out, struct error *err);

/* The environment of a program: for our own with all settings, under the given variables. */
char **environment_for(bool is_own, const struct variable *variables, size_t count, struct arena *arena);

/* The whole of our environment with the given variables in place of what they were. */
char **environment_with(const struct variable *variables, size_t count, struct arena *arena);

#endif
