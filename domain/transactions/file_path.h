/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_path.h - paths of files that steps of transactions write. Pure.
 *
 *     2026/11/ada.json
 *
 * A path is relative, and its parts are plain names: no "." or "..", no hidden file, no name that a command line
 * takes for an option, no character that a shell or a file system treats specially.
 */
#ifndef DOMAIN_TRANSACTIONS_FILE_PATH_H
#define DOMAIN_TRANSACTIONS_FILE_PATH_H

#include <stdbool.h>

#include "base/str.h"

enum { FILE_PATH_PARTS = 8, FILE_PATH_PART_BYTES = 128 };

#define FILE_PATH_ALLOWED                                                                                    \
    "1 to 8 parts with \"/\" between them, each of 1 to 128 letters, digits and - _ . = + @ , that does "    \
    "not "                                                                                                   \
    "begin with \".\" or \"-\""

bool file_path_is_valid(struct str path);

#endif
