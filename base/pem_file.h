/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pem_file.h - a file in PEM that is read whole, and looked at again to see whether it has been replaced.
 */
#ifndef BASE_PEM_FILE_H
#define BASE_PEM_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/* A file's content, and what tells whether it has changed. */
struct pem_file {
    const char *path; /* NULL: none; must outlive the struct */
    char *text;       /* with a NUL; NULL for no path */
    struct stat seen;
};

/*
 * Read a file; path may be NULL. On failure *out can be given to pem_file_cleanup.
 *
 * STATUS_INVALID  it cannot be read, has more than a megabyte, or is not in PEM; the message names it
 */
MUST_USE enum status pem_file_open(const char *path, struct pem_file *out, struct error *err);

/* The same for a text of any form. */
MUST_USE enum status pem_file_open_text(const char *path, struct pem_file *out, struct error *err);

/* Forget the content. Accepts a zeroed one. */
void pem_file_cleanup(struct pem_file *file);

/* Whether the path now names another file. false also if there is no file: it is being replaced. */
bool pem_file_has_changed(const struct pem_file *file);

#endif
