/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h - decides which program of the stack gets which environment variables.
 *
 * A child gets a few variables of the system. A program of Tavola gets all variables that begin with TAVOLA_
 * too.
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

/* The path of a program in the folder of this one. STATUS_UNAVAILABLE: it is not there. */
MUST_USE enum status environment_find_program(
    const char *name, struct arena *arena, const char **out, struct error *err);

/*
 * The environment of a program: the given variables and, if is_own is set, all settings of this program's
 * environment.
 */
char **environment_for(bool is_own, const struct variable *variables, size_t count, struct arena *arena);

/* This program's whole environment; the given variables replace those with the same names. */
char **environment_with(const struct variable *variables, size_t count, struct arena *arena);

#endif
