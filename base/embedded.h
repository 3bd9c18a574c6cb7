/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded.h - a text file that the build has put into the program: SQL statements, Lua scripts,
 * migrations. For every file the generated header declares one constant; cmake/embed.cmake makes
 * it.
 */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

#include <stddef.h>

struct embedded {
    const char *name; /* the file's name without its extension */
    const char *text;
    int number; /* its index in PREFIX_all */
};

#endif
