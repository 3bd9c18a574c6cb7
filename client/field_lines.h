/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_lines.h - the fields of one message on standard output, for commands that show an object: on each line a title
 * and a value.
 */
#ifndef CLIENT_FIELD_LINES_H
#define CLIENT_FIELD_LINES_H

#include <stddef.h>

#include "client/lib/tavola.h"

struct field_line {
    const char *title, *path; /* path: as for tavola_record_text */
};

/*
 * Print a field. Each further line of its text, such as the next element of a list, stands below the first one. Nothing
 * is printed of a field that is not set.
 */
void field_lines_print_one(const struct tavola_record *record, const char *title, const char *path);

void field_lines_print(const struct tavola_record *record, const struct field_line *lines, size_t count);

#endif
