/* SPDX-License-Identifier: Apache-2.0 */
/* temporary.h - folders for files of a test: sockets, logs, a cluster. */
#ifndef TESTS_SUPPORT_TEMPORARY_H
#define TESTS_SUPPORT_TEMPORARY_H

#include <stddef.h>

/*
 * Make a new folder in TMPDIR, or in /tmp if TMPDIR is not set or is too long for the path of a socket.
 *
 * name  begins the folder's name
 * out   the folder's path, shorter than MAX_TEMPORARY_PATH
 *
 * The program ends if the folder cannot be made.
 */
enum { MAX_TEMPORARY_PATH = 80 };
void temporary_folder_make(const char *name, char *out, size_t size);

/* Remove the folder, if it is there, with all that is in it. What cannot be removed is named on stderr. */
void temporary_folder_remove(const char *path);

#endif
