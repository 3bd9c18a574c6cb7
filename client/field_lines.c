/* SPDX-License-Identifier: Apache-2.0 */
/* field_lines.c - see the header. */
#include "client/field_lines.h"

#include <stdio.h>
#include <string.h>

void field_lines_print_one(const struct tavola_record *record, const char *title, const char *path)
{
    char *text = tavola_record_text(record, path);

    for (char *line = text, *end; *line; line = end + (*end != '\0'), title = "") {
        end = line + strcspn(line, "\n");
        printf("%-16s %.*s\n", title, (int)(end - line), line);
    }
    tavola_free(text);
}

void field_lines_print(const struct tavola_record *record, const struct field_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        field_lines_print_one(record, lines[i].title, lines[i].path);
}
