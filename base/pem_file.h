/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pem_file.h - a file in PEM that is read as a whole, and checked later for a replacement.
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
 * Read a file; path may be NULL. After a failure *out may be passed to pem_file_cleanup.
 *
 * STATUS_INVALID  the file cannot be read, has more than a megabyte, or is not in PEM; the message
 * names it
 */
MUST_USE enum status pem_file_open(const char *path, struct pem_file *out, struct error *err);

/* As pem_file_open, for a text of any form. */
MUST_USE enum status pem_file_open_text(const char *path, struct pem_file *out, struct error *err);

/* Release the content. Accepts a zeroed struct. */
void pem_file_cleanup(struct pem_file *file);

/*
 * Whether the path names another file now. false also if there is no file, because it is being
 * replaced.
 */
bool pem_file_has_changed(const struct pem_file *file);

#endif
